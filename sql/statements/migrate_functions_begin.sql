-- Functions name each other and tables in any order: their bodies are not looked up before all are there.
-- And cardbox_writer may be given functions: PostgreSQL demands that the new owner may create them.
DO $$
BEGIN
    SET LOCAL check_function_bodies = off;
    IF to_regrole('cardbox_writer') IS NOT NULL THEN
        GRANT CREATE ON SCHEMA cardbox TO cardbox_writer;
    END IF;
END
$$
