-- context_ranges: returns the entries that the context of an entry needs, as ranges like those of session_path(). The
-- context begins at the first entry that the path's last compaction keeps, or at that compaction if no such entry
-- precedes it on the path. If the path has no compaction, the context begins at the root. A bounded context begins at
-- context_start(), if that is later. Earlier entries are returned too: the last one that sets the model, the thinking
-- level and the settings of requests. In a bounded context, these are also the compaction and all system messages.
--   entries, bytes  See context_start(); NULL: the context is not bounded.
--   unread          Number of entries that the context would have without bounds, and that no range has.
--   root            Line of the root of the path.
CREATE OR REPLACE FUNCTION cardbox.context_ranges(
    tenant text, session text, from_line bigint, entries bigint, bytes bigint)
RETURNS TABLE (branch bigint, low integer, high integer, unread integer, root bigint)
LANGUAGE sql STABLE
AS $$
    WITH path AS (
        SELECT * FROM cardbox.session_path(tenant, session, from_line)
    ), kept AS ( -- the condition is that of the index session_lines_kept
        SELECT x.branch, x.depth, x.type, x.role, x.sets, x.target
          FROM path p
         CROSS JOIN LATERAL (
                SELECT * FROM cardbox.session_lines y
                 WHERE y.tenant_id = tenant AND y.session_id = session AND y.branch = p.branch
                   AND y.depth BETWEEN p.low AND p.high
                   AND (y.type IN ('compaction', 'settings', 'thinking_level_change') OR y.role = 'system')
                 ORDER BY y.depth) AS x
    ), compaction AS (
        SELECT k.branch, k.depth, k.target FROM kept k WHERE k.type = 'compaction' ORDER BY k.depth DESC LIMIT 1
    ), whole AS ( -- the depth of the first entry of the context without bounds
        SELECT coalesce((SELECT e.depth FROM path p WHERE p.branch = e.branch AND e.depth BETWEEN p.low AND p.high),
                        c.depth) AS depth
          FROM compaction c
          LEFT JOIN LATERAL cardbox.find_entry(tenant, session, c.target) AS e ON e.depth < c.depth
        UNION ALL
        SELECT 0 WHERE NOT EXISTS (SELECT FROM compaction)
    ), start AS (
        SELECT w.depth AS top, CASE WHEN entries IS NULL AND bytes IS NULL THEN w.depth
                                    ELSE cardbox.context_start(tenant, session, from_line, w.depth, entries, bytes) END AS depth
          FROM whole w
    ), before AS ( -- entries before the context
        SELECT c.branch, c.depth FROM compaction c CROSS JOIN start f WHERE c.depth < f.depth
        UNION
        SELECT k.branch, k.depth FROM kept k JOIN start f ON k.depth BETWEEN f.top AND f.depth - 1 WHERE k.role = 'system'
        UNION
        (SELECT DISTINCT ON (k.sets) k.branch, k.depth FROM kept k JOIN start f ON k.depth < f.depth
          WHERE k.sets IN ('thinking', 'settings') ORDER BY k.sets, k.depth DESC)
        UNION
        SELECT m.branch, m.depth
          FROM start f
         CROSS JOIN LATERAL (
                SELECT e.branch, e.depth
                  FROM (SELECT * FROM path
                         WHERE path.low < f.depth -- only entries of pi set the model
                           AND (SELECT s.dialect = 'pi' FROM cardbox.sessions s
                                 WHERE s.tenant_id = tenant AND s.session_id = session)
                         ORDER BY high DESC) AS p
                 CROSS JOIN LATERAL (
                        SELECT x.branch, x.depth FROM cardbox.session_lines x
                         WHERE x.tenant_id = tenant AND x.session_id = session AND x.branch = p.branch
                           AND x.depth BETWEEN p.low AND least(p.high, f.depth - 1) AND x.sets = 'model'
                         ORDER BY x.depth DESC LIMIT 1) AS e
                 LIMIT 1) AS m
    )
    SELECT p.branch, greatest(p.low, f.depth), p.high,
           f.depth - f.top - (SELECT count(*)::integer FROM before b WHERE b.depth >= f.top),
           (SELECT q.branch FROM path q WHERE q.low = 0)
      FROM path p CROSS JOIN start f WHERE p.high >= f.depth
    UNION ALL
    SELECT b.branch, b.depth, b.depth, 0, NULL FROM before b
$$;
GRANT EXECUTE ON FUNCTION cardbox.context_ranges TO cardbox_worker;
