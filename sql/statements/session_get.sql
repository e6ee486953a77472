-- One session.
-- $1 text tenant, $2 text session
SELECT s.session_id, s.dialect, s.header, s.name, s.forked_from, h.entry_id AS head, s.entries,
       s.version, s.created_at, s.updated_at
  FROM cardbox.sessions s
  LEFT JOIN LATERAL (
        SELECT x.entry_id FROM cardbox.session_entries x
         WHERE x.tenant_id = $1::text AND x.session_id = $2::text
           AND x.seq BETWEEN s.head_seq AND s.head_seq
         ORDER BY x.seq LIMIT 1) AS h ON true
 WHERE s.tenant_id = $1::text AND s.session_id = $2::text
