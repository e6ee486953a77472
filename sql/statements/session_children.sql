-- Lists a page of the children of an entry, or of the roots, in the order of their lines.
-- $1 text  tenant
-- $2 text  session
-- $3 text  entry; '': the roots
-- $4 int8  line of the last child of the previous page; -1: the first page
-- $5 int8  maximum number of children
-- $6 int4  maximum size of a returned content in bytes; NULL: no contents
--
-- The parent_line of a root is NULL. Roots are ordered by parent_line nevertheless, so that only the index
-- session_lines_starts has the order (test_plans.py test_plans[session_children]).
WITH parent AS (
    SELECT e.line, e.branch, e.depth FROM cardbox.find_entry($1::text, $2::text, $3::text) AS e
)
SELECT e.line, e.entry_id, r.parent_id, e.depth, e.type, e.role, e.missing_parent_id, e.size, r.label,
       CASE WHEN e.size <= $6::int4 THEN e.content END AS content, NULL::int8 AS extra, e.appended_at
  FROM (SELECT k.* FROM (
            (SELECT e.* FROM parent p
              CROSS JOIN LATERAL (
                     SELECT * FROM cardbox.session_lines x
                      WHERE x.tenant_id = $1::text AND x.session_id = $2::text AND x.branch = p.branch
                        AND x.depth BETWEEN p.depth + 1 AND p.depth + 1
                      ORDER BY x.depth LIMIT 1) AS e
              WHERE e.line > $4::int8)
            UNION ALL
            (SELECT e.* FROM cardbox.session_lines e
              WHERE e.tenant_id = $1::text AND e.session_id = $2::text AND e.line = e.branch
                AND e.parent_line = (SELECT p.line FROM parent p) AND e.line > $4::int8
              ORDER BY e.line LIMIT $5::int8)
            UNION ALL
            (SELECT e.* FROM cardbox.session_lines e
              WHERE $3::text = '' AND e.tenant_id = $1::text AND e.session_id = $2::text
                AND e.line = e.branch AND e.parent_line IS NULL AND e.line > $4::int8
              ORDER BY e.parent_line, e.line LIMIT $5::int8)) AS k
         WHERE EXISTS (SELECT FROM cardbox.sessions s
                        WHERE s.tenant_id = $1::text AND s.session_id = $2::text AND s.state = 'live')
         ORDER BY k.line LIMIT $5::int8) AS e
 CROSS JOIN LATERAL cardbox.session_entry_details($1::text, $2::text, e.entry_id, e.parent_line) AS r
 ORDER BY e.line
