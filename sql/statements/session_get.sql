-- Reads a session.
-- $1 text  tenant
-- $2 text  session
SELECT s.session_id, s.dialect, s.header, s.name, s.forked_from, s.head_entry_id, s.entries, s.version,
       s.created_at, s.updated_at, u.input_tokens, u.cached_input_tokens, u.output_tokens, u.cost
  FROM cardbox.sessions s
 CROSS JOIN LATERAL cardbox.session_usage($1::text, s.session_id) AS u
 WHERE s.tenant_id = $1::text AND s.session_id = $2::text AND s.state = 'live'
