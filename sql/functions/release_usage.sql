-- release_usage: adds the sums of a deleted session, whose row the caller has locked, to those of all deleted sessions,
-- which have no id.
CREATE OR REPLACE FUNCTION cardbox.release_usage(tenant text, session text) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    released jsonb;
BEGIN
    WITH gone AS (
        DELETE FROM cardbox.usage u
         WHERE u.tenant_id = tenant AND u.source = 'session' AND u.source_id = session
        RETURNING u.*)
    SELECT jsonb_agg(to_jsonb(g)) INTO released FROM gone g;
    IF released IS NOT NULL THEN
        PERFORM cardbox.add_usage(tenant, 'session', '', released, NULL);
    END IF;
END
$$;
