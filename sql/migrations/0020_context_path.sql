-- A context reads no more of the way to an entry than it is made of.

-- The last entry of some kinds on the way to an entry, above a depth.
CREATE FUNCTION cardbox.last_on_path(
    tenant text, session text, from_seq bigint, below integer, kinds integer[],
    OUT branch bigint, OUT depth integer, OUT card_id text)
LANGUAGE sql STABLE AS $$
    SELECT m.branch, m.depth, m.card_id
      FROM (SELECT * FROM cardbox.session_path(tenant, session, from_seq) AS w
             WHERE w.low < below ORDER BY w.high DESC OFFSET 0) AS p
     CROSS JOIN LATERAL (
            SELECT e.branch, e.depth, e.card_id FROM cardbox.session_entries e
             WHERE e.tenant_id = tenant AND e.session_key = session AND e.branch = p.branch
               AND e.depth BETWEEN p.low AND least(p.high, below - 1) AND e.kind = ANY (kinds)
             ORDER BY e.depth DESC LIMIT 1) AS m
     LIMIT 1
$$;

-- The part of the way from a root to an entry that a context is made of, as session_path gives all of it:
-- from the first entry on that the last compaction keeps, and before that the last that says a thinking
-- level and the last that says a model, which assistants' messages do as well. A compaction whose line
-- PostgreSQL can't take apart keeps all: which entry it names is then found by who reads the lines.
CREATE FUNCTION cardbox.context_path(tenant text, session text, from_seq bigint)
RETURNS TABLE (branch bigint, low integer, high integer)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    fold  record; -- the compaction
    kept  json;   -- the entry that it names, or that entry's seq
    first integer := 0;
BEGIN
    SELECT * INTO fold
      FROM cardbox.last_on_path(tenant, session, from_seq, 2147483647, '{4,260}') AS c;
    IF fold.depth IS NOT NULL THEN
        BEGIN
            SELECT coalesce(c.raw -> 'firstKeptEntryId', c.raw -> 'firstKeptEntryIndex') INTO kept
              FROM cardbox.cards c WHERE c.tenant_id = tenant AND c.card_id = fold.card_id;
            SELECT e.depth INTO first
              FROM cardbox.session_entries e
              JOIN cardbox.session_path(tenant, session, from_seq) AS p
                ON p.branch = e.branch AND e.depth BETWEEN p.low AND p.high
             WHERE e.tenant_id = tenant AND e.session_id = session AND e.depth < fold.depth
               AND e.seq = CASE json_typeof(kept)
                   WHEN 'number' THEN kept::text::bigint
                   WHEN 'string' THEN (
                       SELECT x.seq FROM cardbox.session_entries x
                        WHERE x.tenant_id = tenant AND x.session_key = session
                          AND x.entry_id = kept #>> '{}') END;
            first := coalesce(first, fold.depth);
        EXCEPTION WHEN data_exception THEN
            first := 0;
        END;
    END IF;
    RETURN QUERY
    SELECT p.branch, greatest(p.low, first), p.high
      FROM cardbox.session_path(tenant, session, from_seq) AS p WHERE p.high >= first
    UNION ALL
    SELECT m.branch, m.depth, m.depth
      FROM (VALUES ('{2}'::integer[]), ('{3,513}')) AS s(kinds)
     CROSS JOIN LATERAL cardbox.last_on_path(tenant, session, from_seq, first, s.kinds) AS m
     WHERE first > 0 AND m.depth IS NOT NULL;
END
$$;

REVOKE EXECUTE ON FUNCTION cardbox.last_on_path, cardbox.context_path FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.last_on_path, cardbox.context_path TO cardbox_service, cardbox_worker;
