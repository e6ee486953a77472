-- A page of sessions, newest first.
-- Not coalesce: see boxes_list.
-- $1 text  tenant
-- $2 timestamptz, $3 text  the last row of the page before; NULL: from the newest
-- $4 int8  how many
SELECT s.session_id, s.dialect, s.header, s.name, s.forked_from, h.entry_id AS head, s.entries,
       s.version, s.created_at, s.updated_at
  FROM (SELECT * FROM cardbox.sessions x
         WHERE x.tenant_id = $1::text
           AND (x.created_at, x.session_id) < (least($2::timestamptz, 'infinity'), greatest($3::text, ''))
         ORDER BY x.created_at DESC, x.session_id DESC
         LIMIT $4::int8) AS s
  LEFT JOIN LATERAL (
        SELECT e.entry_id FROM cardbox.session_entries e
         WHERE e.tenant_id = $1::text AND e.session_id = s.session_id
           AND e.seq BETWEEN s.head_seq AND s.head_seq
         ORDER BY e.seq LIMIT 1) AS h ON true
 ORDER BY s.created_at DESC, s.session_id DESC
