-- A page of all sessions of a tenant, in the order of their ids.
-- Not coalesce, and the limit in a SELECT: see boxes_list.
-- $1 text  tenant
-- $2 text  after this session; NULL: from the first
-- $3 int8  how many
SELECT s.session_id, s.dialect, s.header, s.name, s.forked_from, h.entry_id AS head, s.version,
       s.created_at, s.updated_at
  FROM (SELECT * FROM cardbox.sessions x
         WHERE x.tenant_id = $1::text AND x.session_id > greatest($2::text, '')
         ORDER BY x.session_id LIMIT (SELECT $3::int8)) AS s
  LEFT JOIN LATERAL (
        SELECT x.entry_id FROM cardbox.session_entries x
         WHERE x.tenant_id = $1::text AND x.session_id = s.session_id
           AND x.seq BETWEEN s.head_seq AND s.head_seq
         ORDER BY x.seq LIMIT 1) AS h ON true
 ORDER BY s.session_id
