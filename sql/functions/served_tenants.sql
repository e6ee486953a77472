-- served_tenants: returns the tenants whose tasks the current role may claim. For a worker's role they are its granted
-- tenants; for the service they are the tenants that have a task whose wake_at is not NULL.
CREATE OR REPLACE FUNCTION cardbox.served_tenants() RETURNS text[]
LANGUAGE plpgsql VOLATILE
AS $$ -- VOLATILE, because the planner would run a STABLE function for its estimates
BEGIN
    IF NOT pg_has_role(current_user, 'cardbox_service', 'MEMBER') THEN
        RETURN ARRAY(SELECT g.tenant_id FROM cardbox.tenant_grants g);
    END IF;
    -- the recursion needs one index look-up for each tenant
    RETURN ARRAY(
        WITH RECURSIVE due AS (
            (SELECT t.tenant_id FROM cardbox.tasks t WHERE t.wake_at IS NOT NULL
              ORDER BY t.tenant_id LIMIT 1)
            UNION ALL
            SELECT (SELECT t.tenant_id FROM cardbox.tasks t
                     WHERE t.wake_at IS NOT NULL AND t.tenant_id > d.tenant_id
                     ORDER BY t.tenant_id LIMIT 1)
              FROM due d WHERE d.tenant_id IS NOT NULL)
        SELECT d.tenant_id FROM due d WHERE d.tenant_id IS NOT NULL);
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.served_tenants TO cardbox_worker;
