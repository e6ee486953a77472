-- Lists a page of a session's leaves, the last entries of its branches, in the order of the branches. The recursion
-- finds each next branch with one index look-up.
-- $1 text  tenant
-- $2 text  session
-- $3 int8  last branch of the previous page; -1: the first page
-- $4 int8  maximum number of leaves
-- $5 int4  maximum size of a returned content in bytes; NULL: no contents
WITH RECURSIVE branches AS (
    (SELECT e.branch, 1::int8 AS number FROM cardbox.session_lines e
      WHERE e.tenant_id = $1::text AND e.session_id = $2::text AND e.branch > $3::int8
        AND EXISTS (SELECT FROM cardbox.sessions s
                     WHERE s.tenant_id = $1::text AND s.session_id = $2::text AND s.state = 'live')
      ORDER BY e.branch, e.depth LIMIT 1)
    UNION ALL
    SELECT n.branch, b.number + 1
      FROM branches b
     CROSS JOIN LATERAL (
            SELECT e.branch FROM cardbox.session_lines e
             WHERE e.tenant_id = $1::text AND e.session_id = $2::text AND e.branch > b.branch
             ORDER BY e.branch, e.depth LIMIT 1) AS n
     WHERE b.number < $4::int8
)
SELECT e.line, e.entry_id, r.parent_id, e.depth, e.type, e.role, e.missing_parent_id, e.size, r.label,
       CASE WHEN e.size <= $5::int4 THEN e.content END AS content, b.branch AS extra
  FROM branches b
 CROSS JOIN LATERAL (
        SELECT * FROM cardbox.session_lines x
         WHERE x.tenant_id = $1::text AND x.session_id = $2::text AND x.branch = b.branch
         ORDER BY x.depth DESC LIMIT 1) AS e
 CROSS JOIN LATERAL cardbox.session_entry_details($1::text, $2::text, e.entry_id, e.parent_line) AS r
 ORDER BY b.branch
