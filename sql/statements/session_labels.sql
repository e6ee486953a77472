-- A page of the entries that have a label, in the order of their ids downwards.
-- $1 text tenant, $2 text session
-- $3 text only below this id; NULL: from the end; $4 int8 how many, $5 int4 bytes of a line; NULL: none
SELECT e.seq, e.entry_id, p.entry_id AS parent_id, e.depth, e.kind, e.missing, e.size, e.card_id,
       t.label, c.raw, NULL::int8 AS extra
  FROM (SELECT DISTINCT ON (x.target) x.target, x.label FROM cardbox.session_entries x
         WHERE x.tenant_id = $1::text AND x.session_key = $2::text AND x.target IS NOT NULL
           AND ($3::text IS NULL OR x.target < $3::text)
         ORDER BY x.target DESC, x.seq DESC) AS t
  CROSS JOIN LATERAL (
        SELECT * FROM cardbox.session_entries x
         WHERE x.tenant_id = $1::text AND x.session_key = $2::text AND x.entry_id = t.target
        OFFSET 0) AS e
  LEFT JOIN LATERAL (
        SELECT x.entry_id FROM cardbox.session_entries x
         WHERE x.tenant_id = $1::text AND x.session_id = $2::text AND x.seq = e.parent_seq
        OFFSET 0) AS p ON true
  LEFT JOIN LATERAL (
        SELECT x.raw FROM cardbox.cards x
         WHERE x.tenant_id = $1::text AND x.card_id = e.card_id AND e.size <= $5::int4
        OFFSET 0) AS c ON true
 WHERE t.label IS NOT NULL
 ORDER BY t.target DESC
 LIMIT $4::int8
