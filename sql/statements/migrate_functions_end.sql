-- Takes away what migrate_functions_begin has granted.
DO $$
BEGIN
    IF to_regrole('cardbox_writer') IS NOT NULL THEN
        REVOKE CREATE ON SCHEMA cardbox FROM cardbox_writer;
    END IF;
END
$$
