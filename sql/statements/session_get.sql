-- Reads a session.
-- $1 text  tenant
-- $2 text  session
SELECT s.session_id, s.dialect, s.header, s.name, s.forked_from, s.head_entry_id, s.entries, s.version,
       s.created_at, s.updated_at
  FROM cardbox.sessions s
 WHERE s.tenant_id = $1::text AND s.session_id = $2::text AND s.state = 'live'
