-- The settings of a context are the last that say something: a change to nothing, or an assistant's
-- message without a model, leaves what was.

-- Whether a line tells a thinking level, or a model and whose it is, as who reads the lines sees it.
CREATE FUNCTION cardbox.says_setting(kind integer, raw json) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    line json := cardbox.readable_line(raw);
BEGIN
    IF kind % 256 = 2 THEN
        RETURN coalesce(json_typeof(line -> 'thinkingLevel') = 'string', false);
    END IF;
    IF kind % 256 = 1 AND json_typeof(line -> 'message') = 'object' THEN
        line := line -> 'message';
    END IF;
    RETURN coalesce(json_typeof(line -> 'provider') = 'string'
        AND json_typeof(line -> CASE WHEN kind % 256 = 1 THEN 'model' ELSE 'modelId' END) = 'string', false);
END
$$;

-- The last entry of some kinds on the way to an entry, above a depth, that tells a setting.
CREATE FUNCTION cardbox.last_setting(
    tenant text, session text, from_seq bigint, below integer, kinds integer[])
RETURNS TABLE (branch bigint, depth integer)
LANGUAGE plpgsql STABLE ROWS 1 SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY
    SELECT m.branch, m.depth
      FROM (SELECT * FROM cardbox.session_path(tenant, session, from_seq) AS w
             WHERE w.low < below ORDER BY w.high DESC OFFSET 0) AS p
     CROSS JOIN LATERAL (
            SELECT e.branch, e.depth
              FROM cardbox.session_entries e
             CROSS JOIN LATERAL (
                    SELECT cardbox.says_setting(e.kind, c.raw) AS says FROM cardbox.cards c
                     WHERE c.tenant_id = tenant AND c.card_id BETWEEN e.card_id AND e.card_id
                     ORDER BY c.card_id LIMIT 1) AS line
             WHERE e.tenant_id = tenant AND e.session_key = session AND e.branch = p.branch
               AND e.depth BETWEEN p.low AND least(p.high, below - 1) AND e.kind = ANY (kinds)
               AND line.says
             ORDER BY e.depth DESC LIMIT 1) AS m
     LIMIT 1;
END
$$;

-- The part of the way from a root to an entry that a context is made of, as session_path gives all of it:
-- from the first entry on that the last compaction keeps, and before that the last that says a thinking
-- level and the last that says a model, which assistants' messages do as well. A compaction whose line
-- PostgreSQL can't take apart keeps all: which entry it names is then found by who reads the lines.
CREATE OR REPLACE FUNCTION cardbox.context_path(tenant text, session text, from_seq bigint)
RETURNS TABLE (branch bigint, low integer, high integer)
LANGUAGE plpgsql STABLE ROWS 10 SET plan_cache_mode = force_generic_plan AS $$
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
     CROSS JOIN LATERAL cardbox.last_setting(tenant, session, from_seq, first, s.kinds) AS m
     WHERE first > 0;
END
$$;

REVOKE EXECUTE ON FUNCTION cardbox.says_setting, cardbox.last_setting FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.says_setting, cardbox.last_setting TO cardbox_service, cardbox_worker;
