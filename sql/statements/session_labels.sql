-- Lists a page of the entries that have a label, in descending order of the entry ids.
-- $1 text  tenant
-- $2 text  session
-- $3 text  last entry of the previous page; NULL: the first page
-- $4 int8  maximum number of entries
-- $5 int4  maximum size of a returned content in bytes; NULL: no contents
SELECT e.line, e.entry_id, r.parent_id, e.depth, e.type, e.role, e.missing_parent_id, e.size, t.label,
       CASE WHEN e.size <= $5::int4 THEN e.content END AS content, NULL::int8 AS extra, e.appended_at
  FROM (SELECT DISTINCT ON (x.target) x.target, x.label FROM cardbox.session_lines x
         WHERE x.tenant_id = $1::text AND x.session_id = $2::text AND x.type = 'label'
           AND x.target IS NOT NULL AND ($3::text IS NULL OR x.target < $3::text)
           AND EXISTS (SELECT FROM cardbox.sessions s
                        WHERE s.tenant_id = $1::text AND s.session_id = $2::text AND s.state = 'live')
         ORDER BY x.target DESC, x.line DESC) AS t
 CROSS JOIN LATERAL cardbox.find_entry($1::text, $2::text, t.target) AS e
 CROSS JOIN LATERAL cardbox.session_entry_details($1::text, $2::text, e.entry_id, e.parent_line) AS r
 WHERE t.label IS NOT NULL
 ORDER BY t.target DESC
 LIMIT $4::int8
