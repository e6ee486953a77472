-- Prepares the transaction for functions. Functions refer to each other and to tables in any order, so their bodies
-- are not checked. PostgreSQL requires that the new owner of a function may create objects in its schema, so
-- cardbox_writer gets this privilege.
DO $$
BEGIN
    SET LOCAL check_function_bodies = off;
    IF to_regrole('cardbox_writer') IS NOT NULL THEN
        GRANT CREATE ON SCHEMA cardbox TO cardbox_writer;
    END IF;
END
$$
