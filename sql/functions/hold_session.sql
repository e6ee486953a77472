-- hold_session: locks the session that lines of a file are imported into, and makes it for the
-- first lines of a file.
--   import   false: does nothing
--   since    when the session of the earlier lines was made (made of the first call): a session
--            that was deleted meanwhile is not made again, and another one of its name is another
--            session
--   file_id  id of the file's header; '': no header; NULL: files of other sessions are accepted too
CREATE OR REPLACE FUNCTION cardbox.hold_session(
    tenant text, session text, import boolean, given_dialect integer, since timestamptz, file_id text,
    OUT is_new boolean, OUT made timestamptz)
LANGUAGE plpgsql
AS $$
DECLARE
    s record;
    own_id text;
BEGIN
    is_new := false;
    IF NOT import THEN
        RETURN;
    END IF;
    LOOP
        SELECT x.dialect, x.header, x.entries, x.created_at INTO s FROM cardbox.sessions x
         WHERE x.tenant_id = tenant AND x.session_id = session FOR NO KEY UPDATE;
        EXIT WHEN FOUND OR since IS NOT NULL;
        SELECT c.outcome = 1 INTO is_new
          FROM cardbox.create_session(tenant, session, given_dialect, NULL, NULL, true) AS c;
    END LOOP;
    IF s.created_at IS DISTINCT FROM coalesce(since, s.created_at) THEN
        RAISE EXCEPTION 'session % was deleted while the file was imported: import it again',
            session USING ERRCODE = 'CB001';
    END IF;
    made := s.created_at;
    IF file_id IS NULL THEN
        RETURN;
    END IF;
    IF given_dialect <> s.dialect AND (s.entries > 0 OR s.header IS NOT NULL) THEN
        RAISE EXCEPTION 'the file is not of session %, whose dialect is %: import it under another name, '
            'or force it', session, (ARRAY['plain', 'pi'])[s.dialect + 1] USING ERRCODE = 'CB001';
    END IF;
    BEGIN
        IF json_typeof(s.header -> 'id') = 'string' THEN
            own_id := s.header ->> 'id';
        END IF;
    EXCEPTION WHEN data_exception THEN
        own_id := NULL; -- it says none that can be used
    END;
    IF file_id <> '' AND file_id <> own_id AND octet_length(own_id) BETWEEN 1 AND 512
       AND own_id !~ '[\x01-\x1f\x7f]' THEN
        RAISE EXCEPTION 'the file is not of session %, whose header has another id: import it under '
            'another name, or force it', session USING ERRCODE = 'CB001';
    END IF;
END
$$;
REVOKE ALL ON FUNCTION cardbox.hold_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.hold_session TO cardbox_service, cardbox_worker;
