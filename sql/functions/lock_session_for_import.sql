-- lock_session_for_import: locks the session of an import. For the first batch, the function creates a missing session.
-- Returns whether the session was created.
--   since     Creation time of the session that has the earlier batches; NULL: this is the first batch.
--   file_id   Id in the file's header; '': the file has no header; NULL: also accept files of another session or
--             dialect.
--   restores  Whether a project is imported: then a new session is invisible until restore_session() completes the
--             session.
CREATE OR REPLACE FUNCTION cardbox.lock_session_for_import(
    tenant text, session text, given_dialect text, since timestamptz, file_id text, restores boolean)
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    s      record;
    own_id text;
    is_new boolean := false;
BEGIN
    LOOP
        SELECT x.dialect, x.header, x.entries, x.created_at, x.state INTO s FROM cardbox.sessions x
         WHERE x.tenant_id = tenant AND x.session_id = session FOR NO KEY UPDATE;
        EXIT WHEN FOUND OR since IS NOT NULL;
        INSERT INTO cardbox.sessions (tenant_id, session_id, state, dialect, version, created_at, updated_at)
        VALUES (tenant, session, CASE WHEN restores THEN 'restoring' ELSE 'live' END, given_dialect,
                (NOT restores)::integer, clock_timestamp(), clock_timestamp())
        ON CONFLICT DO NOTHING;
        is_new := FOUND;
    END LOOP;
    IF s.created_at IS DISTINCT FROM coalesce(since, s.created_at)
       OR (since IS NOT NULL AND s.state IS DISTINCT FROM 'live') THEN
        RAISE EXCEPTION 'session % was deleted while the file was imported: import it again with restore',
            session USING ERRCODE = 'CB001';
    END IF;
    IF NOT (restores AND s.state = 'restoring') THEN
        PERFORM cardbox.require_live_session(session, s.state);
    END IF;
    IF file_id IS NULL THEN
        RETURN is_new;
    END IF;
    IF given_dialect <> s.dialect AND (s.entries > 0 OR s.header IS NOT NULL) THEN
        RAISE EXCEPTION 'the file is not of session %, whose dialect is %: import it under another name, '
            'or force it', session, s.dialect USING ERRCODE = 'CB001';
    END IF;
    BEGIN
        IF json_typeof(s.header -> 'id') = 'string' THEN
            own_id := s.header ->> 'id';
        END IF;
    EXCEPTION WHEN data_exception THEN
        own_id := NULL; -- the type text can't hold this id
    END;
    IF file_id <> '' AND file_id <> own_id AND octet_length(own_id) BETWEEN 1 AND 512
       AND own_id !~ '[\x01-\x1f\x7f]' THEN
        RAISE EXCEPTION 'the file is not of session %, whose header has another id: import it under '
            'another name, or force it', session USING ERRCODE = 'CB001';
    END IF;
    RETURN is_new;
END
$$;
