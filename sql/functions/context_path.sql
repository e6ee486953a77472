-- context_path: the part of the path from a root to an entry that a context is made of, as ranges
-- like those of session_path(): from the first entry that the last compaction keeps, and of the
-- entries before that the last that has a thinking level and the last that has a model.
CREATE OR REPLACE FUNCTION cardbox.context_path(tenant text, session text, from_seq bigint)
RETURNS TABLE (branch bigint, low integer, high integer)
LANGUAGE plpgsql STABLE ROWS 10
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    fold  record; -- the compaction
    kept  text;   -- the entry that it names
    first integer := 0;
BEGIN
    SELECT * INTO fold
      FROM cardbox.last_on_path(tenant, session, from_seq, 2147483647, '{4,260}') AS c;
    IF fold.depth IS NOT NULL THEN
        SELECT cardbox.kept_entry(tenant, session, e.seq, e.target, c.content) INTO kept
          FROM cardbox.session_entries e
          LEFT JOIN cardbox.cards c ON c.tenant_id = tenant AND c.card_id = fold.card_id
         WHERE e.tenant_id = tenant AND e.session_key = session AND e.branch = fold.branch
           AND e.depth = fold.depth;
        SELECT e.depth INTO first
          FROM cardbox.session_entries e
          JOIN cardbox.session_path(tenant, session, from_seq) AS p
            ON p.branch = e.branch AND e.depth BETWEEN p.low AND p.high
         WHERE e.tenant_id = tenant AND e.session_key = session AND e.entry_id = kept
           AND e.depth < fold.depth;
        first := coalesce(first, fold.depth);
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
REVOKE ALL ON FUNCTION cardbox.context_path FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.context_path TO cardbox_service, cardbox_worker;
