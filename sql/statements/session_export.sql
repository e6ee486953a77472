-- Lists a page of a session's lines, in their order. The text of an entry is in the columns before, content and after.
-- The text of any other line is in the column bytes.
-- $1 text  tenant
-- $2 text  session
-- $3 int8  last line of the previous page; -1: the first page
-- $4 int8  maximum number of lines
-- $5 int8  size limit in bytes; the line that reaches the limit is still returned
SELECT e.line, e.bytes, e.before, e.content, e.after, e.entry_id, e.id_is_made, e.target_is_made,
       coalesce(p.entry_id, e.missing_parent_id) AS parent_id, e.target
  FROM (SELECT l.*, sum(l.size) OVER (ORDER BY l.line) - l.size AS so_far
          FROM (SELECT * FROM cardbox.session_lines x
                 WHERE x.tenant_id = $1::text AND x.session_id = $2::text AND x.line > $3::int8
                 ORDER BY x.line LIMIT $4::int8) AS l) AS e
  LEFT JOIN LATERAL cardbox.find_line($1::text, $2::text, CASE WHEN e.id_is_made THEN e.parent_line END) AS p ON true
 WHERE e.so_far < $5::int8
 ORDER BY e.line
