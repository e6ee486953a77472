-- Lists a page of a tenant's visible sessions in the order of their ids. See boxes_list.sql for why the condition has
-- no coalesce().
-- $1 text  tenant
-- $2 text  last session of the previous page; NULL: the first page
-- $3 int8  maximum number of sessions
SELECT s.session_id, s.dialect, s.header, s.name, s.forked_from, s.head_entry_id, s.version, s.created_at,
       s.updated_at
  FROM cardbox.sessions s
 WHERE s.tenant_id = $1::text AND s.session_id > greatest($2::text, '') AND s.state = 'live'
 ORDER BY s.session_id LIMIT $3::int8
