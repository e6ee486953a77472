-- refuse_session_of_remains: trigger of sessions: rejects a session whose id a deleted one still
-- has rows of.
CREATE OR REPLACE FUNCTION cardbox.refuse_session_of_remains() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    step text := current_setting('cardbox.restores_session', true);
    is_restored boolean;
BEGIN
    IF step = 'begin' THEN
        RETURN NULL;
    ELSIF step = 'end' THEN
        DELETE FROM cardbox.session_remains r
         WHERE r.tenant_id = NEW.tenant_id AND r.session_id = NEW.session_id AND r.restoring;
    END IF;
    SELECT r.restoring INTO is_restored FROM cardbox.session_remains r
     WHERE r.tenant_id = NEW.tenant_id AND r.session_id = NEW.session_id;
    IF is_restored THEN
        RAISE EXCEPTION 'session % is being restored by an import: repeat the import to complete it, or delete '
            'the session', NEW.session_id USING ERRCODE = 'CB001';
    ELSIF FOUND THEN
        RAISE EXCEPTION 'session % is still being deleted: try again in a moment', NEW.session_id
            USING ERRCODE = 'CB001';
    END IF;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION cardbox.refuse_session_of_remains FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.refuse_session_of_remains TO cardbox_service, cardbox_worker;
