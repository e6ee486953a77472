-- A page of the entries that have a label, in the order of their ids downwards.
-- $1 text tenant, $2 text session
-- $3 text only below this id; NULL: from the end; $4 int8 how many, $5 int4 bytes of a line; NULL: none
SELECT e.seq, e.entry_id, p.entry_id AS parent_id, e.depth, e.kind, e.missing, e.size, e.card_id,
       t.label, c.raw, NULL::int8 AS extra
  FROM (SELECT DISTINCT ON (x.target) x.target, x.label FROM cardbox.session_entries x
         WHERE x.tenant_id = $1::text AND x.session_id = $2::text AND x.target IS NOT NULL
           AND ($3::text IS NULL OR x.target < $3::text)
         ORDER BY x.target DESC, x.seq DESC) AS t
  JOIN cardbox.session_entries e ON e.tenant_id = $1::text AND e.session_id = $2::text AND e.entry_id = t.target
  LEFT JOIN cardbox.session_entries p
    ON p.tenant_id = $1::text AND p.session_id = $2::text AND p.seq = e.parent_seq
  LEFT JOIN cardbox.cards c
    ON c.tenant_id = $1::text AND c.card_id = e.card_id AND e.size <= $5::int4
 WHERE t.label IS NOT NULL
 ORDER BY t.target DESC
 LIMIT $4::int8
