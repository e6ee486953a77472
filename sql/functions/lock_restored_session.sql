-- lock_restored_session: locks the session that an import restores. True: the session is not whole, and
-- there is no row of it; false: it exists.
CREATE OR REPLACE FUNCTION cardbox.lock_restored_session(tenant text, session text) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO cardbox.session_remains (tenant_id, session_id, restoring)
    SELECT tenant, session, true
     WHERE NOT EXISTS (SELECT FROM cardbox.sessions s WHERE s.tenant_id = tenant AND s.session_id = session)
    ON CONFLICT DO NOTHING;
    PERFORM FROM cardbox.session_remains r
      WHERE r.tenant_id = tenant AND r.session_id = session AND r.restoring FOR UPDATE;
    IF FOUND THEN
        RETURN true;
    END IF;
    PERFORM FROM cardbox.sessions s
      WHERE s.tenant_id = tenant AND s.session_id = session FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'session % is still being deleted: try again in a moment', session
            USING ERRCODE = 'CB001';
    END IF;
    RETURN false;
END
$$;
REVOKE ALL ON FUNCTION cardbox.lock_restored_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.lock_restored_session TO cardbox_service, cardbox_worker;
