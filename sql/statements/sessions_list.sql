-- Lists a page of a tenant's sessions, newest first. See boxes_list.sql for why the condition has no coalesce().
-- $1 text         tenant
-- $2 timestamptz  creation time of the last session of the previous page; NULL: the first page
-- $3 text         id of the last session of the previous page
-- $4 int8         maximum number of sessions
SELECT s.session_id, s.dialect, s.header, s.name, s.forked_from, s.head_entry_id, s.entries, s.version,
       s.created_at, s.updated_at
  FROM cardbox.sessions s
 WHERE s.tenant_id = $1::text AND s.state = 'live'
   AND (s.created_at, s.session_id) < (least($2::timestamptz, 'infinity'), greatest($3::text, ''))
 ORDER BY s.created_at DESC, s.session_id DESC
 LIMIT $4::int8
