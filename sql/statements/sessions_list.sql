-- A page of sessions, newest first.
-- Not coalesce(): see boxes_list.
-- $1 text  tenant
-- $2 timestamptz, $3 text  the last row of the page before; NULL: from the newest
-- $4 int8  how many
SELECT s.session_id, s.dialect, s.header, s.name, s.forked_from, s.head_entry_id, s.entries, s.version,
       s.created_at, s.updated_at
  FROM cardbox.sessions s
 WHERE s.tenant_id = $1::text AND s.state = 'live'
   AND (s.created_at, s.session_id) < (least($2::timestamptz, 'infinity'), greatest($3::text, ''))
 ORDER BY s.created_at DESC, s.session_id DESC
 LIMIT $4::int8
