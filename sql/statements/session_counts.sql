-- What there is of a session: of the report of an import. No row: no such session.
-- $1 text tenant, $2 text session
SELECT s.entries, b.roots, b.leaves, b.branch_points, b.max_depth,
       (SELECT count(*) FROM cardbox.session_entries m
         WHERE m.tenant_id = $1::text AND m.session_id = $2::text AND m.missing IS NOT NULL) AS dangling
  FROM cardbox.sessions s
 CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE e.parent_seq IS NULL) AS roots, count(*) AS leaves,
               count(DISTINCT e.parent_seq) AS branch_points,
               coalesce(max(t.depth), 0)::int8 AS max_depth
          FROM (SELECT x.parent_seq, x.branch FROM cardbox.session_entries x
                 WHERE x.tenant_id = $1::text AND x.session_key = $2::text AND x.seq = x.branch
                 ORDER BY x.parent_seq, x.seq OFFSET 0) AS e
         CROSS JOIN LATERAL (
                SELECT x.depth FROM cardbox.session_entries x
                 WHERE x.tenant_id = $1::text AND x.session_key = $2::text AND x.branch = e.branch
                 ORDER BY x.depth DESC LIMIT 1) AS t) AS b
 WHERE s.tenant_id = $1::text AND s.session_id = $2::text
