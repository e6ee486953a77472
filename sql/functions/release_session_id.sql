-- release_session_id: removes the row of a deleted session, so that its id can be used for a new session. Returns the
-- id. A session that is not deleted stays. If lines of the deleted session remain, the function raises an error.
CREATE OR REPLACE FUNCTION cardbox.release_session_id(tenant text, session text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    old_state text;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    SELECT s.state INTO old_state FROM cardbox.sessions s
     WHERE s.tenant_id = tenant AND s.session_id = session FOR UPDATE;
    IF old_state = 'deleted' THEN
        RAISE EXCEPTION 'lines of the deleted session % are still being removed: try again in a moment', session
            USING ERRCODE = 'CB001';
    ELSIF old_state = 'gone' THEN
        DELETE FROM cardbox.sessions s WHERE s.tenant_id = tenant AND s.session_id = session;
    END IF;
    RETURN session;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.release_session_id TO cardbox_worker;
ALTER FUNCTION cardbox.release_session_id OWNER TO cardbox_writer;
