-- Lists a page of the branch points of a session, entries with more than one child, in the order of their first
-- children. The column extra has the number of children.
-- $1 text  tenant
-- $2 text  session
-- $3 int8  line of the last entry of the previous page; -1: the first page
-- $4 int8  maximum number of entries
-- $5 int4  maximum size of a returned content in bytes; NULL: no contents
--
-- test_plans.py test_plans_without_statistics: find_entry() explains why the condition is a range.
SELECT e.line, e.entry_id, r.parent_id, e.depth, e.type, e.role, e.missing_parent_id, e.size, r.label,
       CASE WHEN e.size <= $5::int4 THEN e.content END AS content,
       (SELECT count(*) + 1 FROM cardbox.session_lines x
         WHERE x.tenant_id = $1::text AND x.session_id = $2::text AND x.line = x.branch
           AND x.parent_line BETWEEN b.line AND b.line) AS extra, e.appended_at
  FROM cardbox.sessions s
 CROSS JOIN LATERAL cardbox.list_branch_points($1::text, $2::text, $3::int8, $4::int8) AS b
 CROSS JOIN LATERAL cardbox.find_line($1::text, $2::text, b.line) AS e
 CROSS JOIN LATERAL cardbox.session_entry_details($1::text, $2::text, e.entry_id, e.parent_line) AS r
 WHERE s.tenant_id = $1::text AND s.session_id = $2::text AND s.state = 'live'
 ORDER BY b.child
