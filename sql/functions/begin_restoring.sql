-- begin_restoring: trigger function. Takes the marker of a restoration back if there is such a session.
-- The session's row is inserted and removed, so that this and the creation of a session wait for each
-- other. Workers have no right to delete.
CREATE OR REPLACE FUNCTION cardbox.begin_restoring() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM set_config('cardbox.restores_session', 'begin', true);
    INSERT INTO cardbox.sessions (tenant_id, session_id, last_seq, last_ord, open_end, entries, version,
                                  created_at, updated_at)
    VALUES (NEW.tenant_id, NEW.session_id, -1, 0, false, 0, 0, clock_timestamp(), clock_timestamp())
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        DELETE FROM cardbox.sessions s WHERE s.tenant_id = NEW.tenant_id AND s.session_id = NEW.session_id;
    ELSE
        DELETE FROM cardbox.session_remains r
         WHERE r.tenant_id = NEW.tenant_id AND r.session_id = NEW.session_id;
    END IF;
    PERFORM set_config('cardbox.restores_session', '', true);
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION cardbox.begin_restoring FROM PUBLIC;
