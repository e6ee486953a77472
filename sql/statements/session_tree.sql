-- Lists a page of all entries of a session, in the order of their lines.
-- $1 text  tenant
-- $2 text  session
-- $3 int8  line of the last entry of the previous page; -1: the first page
-- $4 int8  maximum number of entries
-- $5 int4  maximum size of a returned content in bytes; NULL: no contents
SELECT e.line, e.entry_id, r.parent_id, e.depth, e.type, e.role, e.missing_parent_id, e.size, r.label,
       CASE WHEN e.size <= $5::int4 THEN e.content END AS content, NULL::int8 AS extra, e.appended_at
  FROM (SELECT * FROM cardbox.session_lines e
         WHERE e.tenant_id = $1::text AND e.session_id = $2::text AND e.line > $3::int8
           AND e.entry_id IS NOT NULL
           AND EXISTS (SELECT FROM cardbox.sessions s
                        WHERE s.tenant_id = $1::text AND s.session_id = $2::text AND s.state = 'live')
         ORDER BY e.line LIMIT $4::int8) AS e
 CROSS JOIN LATERAL cardbox.session_entry_details($1::text, $2::text, e.entry_id, e.parent_line) AS r
 ORDER BY e.line
