-- Lists a page of a session's leaves, entries without children, in the order of their lines.
-- $1 text  tenant
-- $2 text  session
-- $3 int8  line of the last leaf of the previous page; -1: the first page
-- $4 int8  maximum number of leaves
-- $5 int4  maximum size of a returned content in bytes; NULL: no contents
SELECT e.line, e.entry_id, r.parent_id, e.depth, e.type, e.role, e.missing_parent_id, e.size, r.label,
       CASE WHEN e.size <= $5::int4 THEN e.content END AS content, NULL::int8 AS extra, e.appended_at
  FROM cardbox.sessions s
 CROSS JOIN LATERAL cardbox.list_leaves($1::text, $2::text, $3::int8, $4::int8) AS l(line)
 CROSS JOIN LATERAL cardbox.find_line($1::text, $2::text, l.line) AS e
 CROSS JOIN LATERAL cardbox.session_entry_details($1::text, $2::text, e.entry_id, e.parent_line) AS r
 WHERE s.tenant_id = $1::text AND s.session_id = $2::text AND s.state = 'live'
 ORDER BY l.line
