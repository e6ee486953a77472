-- A page of a session's lines, in their order. The line is before, content, after if it is an entry,
-- else bytes.
-- $1 text tenant, $2 text session, $3 int8 only after this line
-- $4 int8 how many, $5 int8 bytes, but always one line
SELECT e.line, e.bytes, e.before, e.content, e.after, e.entry_id, e.id_is_made, e.target_is_made,
       coalesce(p.entry_id, e.missing_parent_id) AS parent_id, e.target
  FROM (SELECT l.*, sum(l.size) OVER (ORDER BY l.line) - l.size AS so_far
          FROM (SELECT * FROM cardbox.session_lines x
                 WHERE x.tenant_id = $1::text AND x.session_id = $2::text AND x.line > $3::int8
                 ORDER BY x.line LIMIT $4::int8) AS l) AS e
  LEFT JOIN LATERAL cardbox.find_line($1::text, $2::text, CASE WHEN e.id_is_made THEN e.parent_line END) AS p ON true
 WHERE e.so_far < $5::int8
 ORDER BY e.line
