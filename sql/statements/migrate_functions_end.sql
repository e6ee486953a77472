-- Sets the privileges that all functions have in common. PUBLIC may execute none of them. The roles cardbox_service and
-- cardbox_writer may execute all of them: a function without SECURITY DEFINER adds no rights. A grant to cardbox_worker
-- is in the file of the function. Last, the privilege that migrate_functions_begin granted is revoked.
DO $$
BEGIN
    REVOKE ALL ON ALL FUNCTIONS IN SCHEMA cardbox FROM PUBLIC;
    IF to_regrole('cardbox_writer') IS NOT NULL THEN
        GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA cardbox TO cardbox_service, cardbox_writer;
        REVOKE CREATE ON SCHEMA cardbox FROM cardbox_writer;
    END IF;
END
$$
