-- restore_session: completes a session of a project's export, after its lines: until then its
-- version is 0.
-- Outcomes: 1 made  2 nothing to do: its version is this or a later one  3 brought to this version
--   4 it lacks the head
CREATE OR REPLACE FUNCTION cardbox.restore_session(
    tenant text, session text, given_dialect integer, given_header json, given_name json, source text,
    head text, given_version bigint, created timestamptz, updated timestamptz)
RETURNS integer
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    s      record;
    goal   bigint;
    is_new boolean := cardbox.lock_restored_session(tenant, session);
BEGIN
    IF is_new THEN
        PERFORM set_config('cardbox.restores_session', 'end', true);
        INSERT INTO cardbox.sessions (tenant_id, session_id, last_seq, last_ord, open_end, has_rings, entries,
                                      version, created_at, updated_at)
        SELECT tenant, session, coalesce(max(p.seq), -1), coalesce((array_agg(p.ord))[1], 0), false,
               EXISTS (SELECT FROM cardbox.session_lines l
                        WHERE l.tenant_id = tenant AND l.session_id = session AND l.ring_id IS NOT NULL),
               (SELECT count(*) FROM cardbox.session_entries e
                 WHERE e.tenant_id = tenant AND e.session_id = session),
               0, clock_timestamp(), clock_timestamp()
          FROM (SELECT * FROM (
                    (SELECT e.seq, 0 AS ord FROM cardbox.session_entries e
                      WHERE e.tenant_id = tenant AND e.session_id = session ORDER BY e.seq DESC LIMIT 1)
                    UNION ALL
                    (SELECT l.seq, l.ord FROM cardbox.session_lines l
                      WHERE l.tenant_id = tenant AND l.session_id = session
                      ORDER BY l.seq DESC, l.ord DESC LIMIT 1)) AS m
                 ORDER BY m.seq DESC, m.ord DESC LIMIT 1) AS p;
        PERFORM set_config('cardbox.restores_session', '', true);
    END IF;
    SELECT * INTO s FROM cardbox.sessions x WHERE x.tenant_id = tenant AND x.session_id = session;
    IF s.version >= given_version THEN
        RETURN 2;
    END IF;
    PERFORM cardbox.settle_session(tenant, session); -- parents that stand behind their children
    SELECT e.seq INTO goal FROM cardbox.session_entries e
     WHERE e.tenant_id = tenant AND e.session_key = session AND e.entry_id = head;
    IF goal IS NULL AND head IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'CB002'; -- undoes this block: the session stays invisible
    END IF;
    UPDATE cardbox.sessions x
       SET dialect = given_dialect, header = given_header, name = given_name, forked_from = source,
           head_seq = goal, version = given_version, created_at = coalesce(created, x.created_at),
           updated_at = coalesce(updated, x.updated_at),
           open_end = coalesce((SELECT cardbox.is_open_end(l.bytes)
                                  FROM cardbox.session_line_at(tenant, session, s.last_seq, s.last_ord) AS l),
                               false)
     WHERE x.tenant_id = tenant AND x.session_id = session;
    RETURN CASE WHEN is_new THEN 1 ELSE 3 END;
EXCEPTION WHEN SQLSTATE 'CB002' THEN
    RETURN 4;
END
$$;
REVOKE ALL ON FUNCTION cardbox.restore_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.restore_session TO cardbox_service, cardbox_worker;
