-- fork_session: makes a session of the path to an entry ('': the head). Its entries keep their
-- positions and share their cards, so only rows are copied. The header says where it comes from, as
-- long as the line stays under 512 bytes, which some readers look at. The caller has locked the
-- session: see fork_held_session().
-- Outcomes: 1 done  3 no such session  5 no such entry  6 the new session exists
CREATE OR REPLACE FUNCTION cardbox.fork_session(
    tenant text, session text, entry text, new_session text,
    OUT outcome integer, OUT version bigint, OUT entries bigint)
LANGUAGE plpgsql
AS $$
DECLARE
    s      record;
    goal   bigint;
    new_header json;
    made   timestamptz := clock_timestamp();
BEGIN
    SELECT * INTO s FROM cardbox.sessions x WHERE x.tenant_id = tenant AND x.session_id = session;
    IF NOT FOUND THEN
        outcome := 3;
        RETURN;
    END IF;
    goal := s.head_seq;
    IF entry <> '' THEN
        SELECT e.seq INTO goal FROM cardbox.session_entries e
         WHERE e.tenant_id = tenant AND e.session_key = session AND e.entry_id = entry;
    END IF;
    IF goal IS NULL THEN
        outcome := 5;
        RETURN;
    END IF;
    IF s.header IS NOT NULL THEN
        -- The first that fits; or the shortest.
        SELECT f.header::json INTO new_header
          FROM (VALUES (1, session, 512), (2, NULL, 512), (3, session, 200), (4, NULL, 200))
               AS v(place, source, most)
         CROSS JOIN LATERAL (SELECT cardbox.fork_header(s.header, new_session, v.source, made, v.most)
                            OFFSET 0) AS f(header)
         WHERE octet_length(f.header) < 512 OR v.place = 4
         ORDER BY v.place LIMIT 1;
    END IF;
    SELECT c.outcome, c.version INTO outcome, version
      FROM cardbox.create_session(tenant, new_session, s.dialect, NULL, session, false) AS c;
    IF outcome <> 1 THEN
        RETURN;
    END IF;
    INSERT INTO cardbox.session_entries (tenant_id, session_id, seq, entry_id, parent_seq, missing,
           depth, branch, kind, card_id, size, before, after, target, label)
    SELECT e.tenant_id, new_session, e.seq, e.entry_id, e.parent_seq, e.missing, e.depth,
           min(e.seq) FILTER (WHERE e.depth = 0) OVER (), e.kind, e.card_id, e.size, e.before,
           CASE WHEN cardbox.is_open_end(e.after) THEN '\x0a' ELSE e.after END, e.target, e.label
      FROM cardbox.session_path(tenant, session, goal) AS w
     CROSS JOIN LATERAL (
            SELECT * FROM cardbox.session_entries x
             WHERE x.tenant_id = tenant AND x.session_key = session AND x.branch = w.branch
               AND x.depth BETWEEN w.low AND w.high
            OFFSET 0) AS e;
    GET DIAGNOSTICS entries = ROW_COUNT;
    IF new_header IS NOT NULL THEN
        INSERT INTO cardbox.session_lines (tenant_id, session_id, seq, ord, bytes)
        SELECT tenant, new_session, v.seq, v.ord, cardbox.session_line(NULL, new_header, NULL)
          FROM (VALUES (0, 0), (-1, 1)) AS v(seq, ord)
         WHERE (v.seq < 0) = EXISTS (SELECT FROM cardbox.session_entries e
                                      WHERE e.tenant_id = tenant AND e.session_id = new_session
                                        AND e.seq = 0);
    END IF;
    UPDATE cardbox.sessions x
       SET header = new_header, head_seq = goal, entries = fork_session.entries,
           last_seq = (SELECT max(e.seq) FROM cardbox.session_entries e
                        WHERE e.tenant_id = tenant AND e.session_id = new_session),
           name = (SELECT l.line -> 'name' FROM cardbox.session_entries e
                     JOIN cardbox.cards c ON c.tenant_id = tenant AND c.card_id = e.card_id
                    CROSS JOIN LATERAL (SELECT cardbox.readable_line(c.content) OFFSET 0) AS l(line)
                    WHERE e.tenant_id = tenant AND e.session_id = new_session AND e.kind % 256 = 9
                      AND json_typeof(l.line -> 'name') = 'string' AND length(l.line ->> 'name') > 0
                    ORDER BY e.seq DESC LIMIT 1)
     WHERE x.tenant_id = tenant AND x.session_id = new_session;
END
$$;
REVOKE ALL ON FUNCTION cardbox.fork_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.fork_session TO cardbox_service, cardbox_worker;
