-- require_live_session: raises an error unless the state of a session is live. NULL: another transaction
-- has removed the row of the session.
CREATE OR REPLACE FUNCTION cardbox.require_live_session(session text, state text) RETURNS void
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    IF state = 'restoring' THEN
        RAISE EXCEPTION 'session % is being restored by an import: repeat the import to complete it, or '
            'delete the session', session USING ERRCODE = 'CB001';
    ELSIF state IN ('deleted', 'gone') THEN
        RAISE EXCEPTION 'session % was deleted: use another id, or set restore where a session is created',
            session USING ERRCODE = 'CB410';
    ELSIF state IS NULL THEN
        RAISE EXCEPTION 'session % is still being deleted: try again in a moment', session
            USING ERRCODE = 'CB001';
    END IF;
END
$$;
