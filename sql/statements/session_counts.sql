-- What there is of a session: of the report of an import. No row: no such session.
-- $1 text tenant, $2 text session
-- The deepest entry is the end of a branch, which costs a look into the index each; where more than
-- one entry in eight begins a branch all entries are read instead, which costs less.
SELECT s.entries, b.roots, b.leaves, b.branch_points, coalesce(d.max_depth, 0)::int8 AS max_depth,
       (SELECT count(*) FROM cardbox.session_entries m
         WHERE m.tenant_id = $1::text AND m.session_id = $2::text AND m.missing IS NOT NULL) AS dangling
  FROM cardbox.sessions s
 CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE e.parent_seq IS NULL) AS roots, count(*) AS leaves,
               count(DISTINCT e.parent_seq) AS branch_points
          FROM (SELECT x.parent_seq FROM cardbox.session_entries x
                 WHERE x.tenant_id = $1::text AND x.session_key = $2::text AND x.seq = x.branch
                 ORDER BY x.parent_seq, x.seq OFFSET 0) AS e) AS b
 CROSS JOIN LATERAL (
        SELECT max(e.depth) AS max_depth
          FROM (SELECT t.depth
                  FROM (SELECT x.branch FROM cardbox.session_entries x
                         WHERE x.tenant_id = $1::text AND x.session_key = $2::text AND x.seq = x.branch
                           AND b.leaves * 8 <= s.entries
                         ORDER BY x.parent_seq, x.seq OFFSET 0) AS x
                 CROSS JOIN LATERAL (
                        SELECT y.depth FROM cardbox.session_entries y
                         WHERE y.tenant_id = $1::text AND y.session_key = $2::text AND y.branch = x.branch
                         ORDER BY y.depth DESC LIMIT 1) AS t
                UNION ALL
                SELECT x.depth FROM cardbox.session_entries x
                 WHERE x.tenant_id = $1::text AND x.session_id = $2::text AND b.leaves * 8 > s.entries) AS e) AS d
 WHERE s.tenant_id = $1::text AND s.session_id = $2::text
