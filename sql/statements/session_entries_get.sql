-- Entries by their ids, with their lines, in any order.
-- $1 text tenant, $2 text session, $3 text[] entry ids
SELECT e.seq, e.entry_id, p.entry_id AS parent_id, e.depth, e.kind, e.missing, e.size, e.card_id,
       l.label, c.raw, NULL::int8 AS extra
  FROM unnest($3::text[]) AS g(entry_id)
  CROSS JOIN LATERAL (
        SELECT * FROM cardbox.session_entries x
         WHERE x.tenant_id = $1::text AND x.session_key = $2::text AND x.entry_id = g.entry_id
        OFFSET 0) AS e
  LEFT JOIN LATERAL (
        SELECT x.entry_id FROM cardbox.session_entries x
         WHERE x.tenant_id = $1::text AND x.session_id = $2::text AND x.seq = e.parent_seq
        OFFSET 0) AS p ON true
  LEFT JOIN LATERAL (
        SELECT (array_agg(x.label ORDER BY x.seq DESC))[1] AS label FROM cardbox.session_entries x
         WHERE x.tenant_id = $1::text AND x.session_key = $2::text AND x.target = e.entry_id) AS l ON true
  LEFT JOIN LATERAL (
        SELECT x.raw FROM cardbox.cards x
         WHERE x.tenant_id = $1::text AND x.card_id = e.card_id
        OFFSET 0) AS c ON true
