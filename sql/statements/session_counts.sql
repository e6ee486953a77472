-- Returns numbers of a session for a report (entries, roots, leaves, branch points), or no row if there is no such
-- session. Each branch has one leaf, its deepest entry.
-- $1 text  tenant
-- $2 text  session
SELECT s.entries, b.roots, b.leaves, b.branch_points, b.max_depth, b.dangling
  FROM cardbox.sessions s
 CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE e.parent_line IS NULL) AS roots, count(*) AS leaves,
               count(DISTINCT e.parent_line) AS branch_points,
               coalesce(max(t.depth), 0)::int8 AS max_depth, count(e.missing_parent_id) AS dangling
          FROM (SELECT x.branch, x.parent_line, x.missing_parent_id FROM cardbox.session_lines x
                 WHERE x.tenant_id = $1::text AND x.session_id = $2::text AND x.line = x.branch) AS e
         CROSS JOIN LATERAL (
                SELECT y.depth FROM cardbox.session_lines y
                 WHERE y.tenant_id = $1::text AND y.session_id = $2::text AND y.branch = e.branch
                 ORDER BY y.depth DESC LIMIT 1) AS t) AS b
 WHERE s.tenant_id = $1::text AND s.session_id = $2::text AND s.state = 'live'
