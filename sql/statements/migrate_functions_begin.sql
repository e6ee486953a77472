-- Prepares the transaction in which functions are applied. Functions refer to each other and to tables in any order, so
-- their bodies are not checked. The role cardbox_writer gets the privilege to create objects in the schema, because
-- PostgreSQL requires this of the new owner of a function.
DO $$
BEGIN
    SET LOCAL check_function_bodies = off;
    IF to_regrole('cardbox_writer') IS NOT NULL THEN
        GRANT CREATE ON SCHEMA cardbox TO cardbox_writer;
    END IF;
END
$$
