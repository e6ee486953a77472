-- create_session: makes a session, with a header's line or without.
-- Outcomes: 1 made  2 it exists, nothing was done  6 it exists, and may_exist is false
--   7 it exists in another dialect
CREATE OR REPLACE FUNCTION cardbox.create_session(
    tenant text, session text, given_dialect integer, given_header json, source text,
    may_exist boolean, OUT outcome integer, OUT version bigint)
LANGUAGE plpgsql
AS $$
DECLARE
    made timestamptz := clock_timestamp();
BEGIN
    INSERT INTO cardbox.sessions (tenant_id, session_id, dialect, header, forked_from, last_seq,
                                  last_ord, open_end, entries, version, created_at, updated_at)
    VALUES (tenant, session, given_dialect, given_header, source,
            CASE WHEN given_header IS NULL THEN -1 ELSE 0 END, 0, false, 0, 1, made, made)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        SELECT CASE WHEN NOT may_exist THEN 6 WHEN s.dialect <> given_dialect THEN 7 ELSE 2 END,
               s.version
          INTO create_session.outcome, create_session.version
          FROM cardbox.sessions s
         WHERE s.tenant_id = tenant AND s.session_id = session;
        RETURN;
    END IF;
    IF given_header IS NOT NULL THEN
        INSERT INTO cardbox.session_lines (tenant_id, session_id, seq, ord, bytes)
        VALUES (tenant, session, 0, 0, cardbox.session_line(NULL, given_header, NULL));
    END IF;
    outcome := 1;
    version := 1;
END
$$;
REVOKE ALL ON FUNCTION cardbox.create_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.create_session TO cardbox_service, cardbox_worker;
