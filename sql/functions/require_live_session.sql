-- require_live_session: raises an error unless the state of a session is live. NULL: the session is being removed.
CREATE OR REPLACE FUNCTION cardbox.require_live_session(session text, state text) RETURNS void
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    IF state = 'restoring' THEN
        RAISE EXCEPTION 'session % is being restored by an import: repeat the import to complete it, or '
            'delete the session', session USING ERRCODE = 'CB001';
    ELSIF state IN ('deleted', 'gone') THEN
        RAISE EXCEPTION 'session % was deleted: choose another id, or ask for restore to begin a new, empty session '
            'with this id', session USING ERRCODE = 'CB410';
    ELSIF state IS NULL THEN
        RAISE EXCEPTION 'session % is still being deleted: try again in a moment', session
            USING ERRCODE = 'CB001';
    END IF;
END
$$;
