-- Lists a page of the lines of a tenant's visible sessions, ordered by session, then by line. See boxes_list.sql for
-- why the condition has no coalesce().
-- $1 text  tenant
-- $2 text  session of the last line of the previous page; NULL: the first page
-- $3 int8  number of the last line of the previous page
-- $4 int8  maximum number of lines
SELECT l.session_id, l.line, l.bytes, l.entry_id, coalesce(p.entry_id, l.missing_parent_id) AS parent_id,
       l.content, l.before, l.after, CASE WHEN l.target_is_made THEN l.target END
  FROM (SELECT x.* FROM cardbox.session_lines x
         WHERE x.tenant_id = $1::text
           AND (x.session_id, x.line) > (greatest($2::text, ''), greatest($3::int8, -1))
           AND (SELECT s.state FROM cardbox.sessions s
                 WHERE s.tenant_id = $1::text AND s.session_id = x.session_id) = 'live'
         ORDER BY x.session_id, x.line LIMIT $4::int8) AS l
  LEFT JOIN LATERAL cardbox.find_line($1::text, l.session_id, l.parent_line) AS p ON true
 ORDER BY l.session_id, l.line
