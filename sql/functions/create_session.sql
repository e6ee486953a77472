-- create_session: creates a session. If a header is given, it becomes line 0.
--   source     Id of the session from which the new session is forked, or NULL.
--   may_exist  If the session already exists: true: the outcome is unchanged or other_dialect; false: the outcome is
--              exists.
--
-- Outcomes: created; unchanged, exists: the session already exists; other_dialect: the session already exists with
-- another dialect. If the session was deleted or is being restored, the function raises an error.
CREATE OR REPLACE FUNCTION cardbox.create_session(
    tenant text, session text, given_dialect text, given_header json, source text,
    may_exist boolean, OUT outcome text, OUT version bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    made timestamptz := clock_timestamp();
    old  record;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    IF json_typeof(given_header) <> 'object' THEN
        RAISE EXCEPTION 'a header must be an object' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    INSERT INTO cardbox.sessions (tenant_id, session_id, dialect, header, forked_from, lines, version,
                                  created_at, updated_at)
    VALUES (tenant, session, given_dialect, given_header, source, (given_header IS NOT NULL)::integer, 1,
            made, made)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        SELECT s.dialect, s.version, s.state INTO old FROM cardbox.sessions s
         WHERE s.tenant_id = tenant AND s.session_id = session;
        PERFORM cardbox.require_live_session(session, old.state);
        outcome := CASE WHEN NOT may_exist THEN 'exists' WHEN old.dialect <> given_dialect THEN 'other_dialect'
                        ELSE 'unchanged' END;
        version := old.version;
        RETURN;
    END IF;
    IF given_header IS NOT NULL THEN
        INSERT INTO cardbox.session_lines (tenant_id, session_id, line, size, bytes)
        VALUES (tenant, session, 0, octet_length(given_header::text) + 1,
                cardbox.line_bytes(NULL, given_header, NULL));
    END IF;
    outcome := 'created';
    version := 1;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.create_session TO cardbox_worker;
ALTER FUNCTION cardbox.create_session OWNER TO cardbox_writer;
