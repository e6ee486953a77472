-- context_path: returns the entries that the context of an entry needs, as ranges like those of session_path(). The
-- context begins at the first entry that the path's last compaction keeps, or at that compaction if no such entry
-- precedes it on the path. If the path has no compaction, the context begins at the root. The last entry before the
-- context that sets the model, and the last one that sets the thinking level, are needed too.
CREATE OR REPLACE FUNCTION cardbox.context_path(tenant text, session text, from_line bigint)
RETURNS TABLE (branch bigint, low integer, high integer)
LANGUAGE sql STABLE
AS $$
    WITH path AS (
        SELECT * FROM cardbox.session_path(tenant, session, from_line)
    ), compaction AS (
        SELECT e.depth, e.target
          FROM (SELECT * FROM path ORDER BY high DESC) AS p
         CROSS JOIN LATERAL (
                SELECT x.depth, x.target FROM cardbox.session_lines x
                 WHERE x.tenant_id = tenant AND x.session_id = session AND x.branch = p.branch
                   AND x.depth BETWEEN p.low AND p.high AND x.type = 'compaction'
                 ORDER BY x.depth DESC LIMIT 1) AS e
         LIMIT 1
    ), start AS ( -- the depth of the first entry of the context
        SELECT coalesce((SELECT e.depth FROM path p WHERE p.branch = e.branch AND e.depth BETWEEN p.low AND p.high),
                        c.depth) AS depth
          FROM compaction c
          LEFT JOIN LATERAL cardbox.find_entry(tenant, session, c.target) AS e ON e.depth < c.depth
        UNION ALL
        SELECT 0 WHERE NOT EXISTS (SELECT FROM compaction)
    )
    SELECT p.branch, greatest(p.low, f.depth), p.high FROM path p CROSS JOIN start f WHERE p.high >= f.depth
    UNION ALL
    SELECT m.branch, m.depth, m.depth
      FROM start f
     CROSS JOIN (VALUES ('model'), ('thinking')) AS s(sets)
     CROSS JOIN LATERAL (
            SELECT e.branch, e.depth
              FROM (SELECT * FROM path WHERE path.low < f.depth ORDER BY high DESC) AS p
             CROSS JOIN LATERAL (
                    SELECT x.branch, x.depth FROM cardbox.session_lines x
                     WHERE x.tenant_id = tenant AND x.session_id = session AND x.branch = p.branch
                       AND x.depth BETWEEN p.low AND least(p.high, f.depth - 1) AND x.sets = s.sets
                     ORDER BY x.depth DESC LIMIT 1) AS e
             LIMIT 1) AS m
$$;
GRANT EXECUTE ON FUNCTION cardbox.context_path TO cardbox_worker;
