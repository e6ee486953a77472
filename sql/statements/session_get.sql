-- One session.
-- $1 text tenant, $2 text session
SELECT s.session_id, s.dialect, s.header, s.name, s.forked_from, h.entry_id AS head, s.entries,
       s.version, s.created_at, s.updated_at
  FROM cardbox.sessions s
  LEFT JOIN cardbox.session_entries h
    ON h.tenant_id = $1::text AND h.session_id = s.session_id AND h.seq = s.head_seq
 WHERE s.tenant_id = $1::text AND s.session_id = $2::text
