-- A page of the entries that have a label, in the order of their ids downwards.
-- $1 text tenant, $2 text session
-- $3 text only below this id; NULL: from the end; $4 int8 how many, $5 int4 bytes of a line; NULL: none
SELECT e.seq, e.entry_id, r.parent_id, e.depth, e.kind, e.missing, e.size, e.card_id,
       t.label, r.raw, NULL::int8 AS extra
  FROM (SELECT DISTINCT ON (x.target) x.target, x.label FROM cardbox.session_entries x
         WHERE x.tenant_id = $1::text AND x.session_key = $2::text AND x.target IS NOT NULL AND x.kind = 8
           AND ($3::text IS NULL OR x.target < $3::text)
           AND EXISTS (SELECT FROM cardbox.sessions s WHERE s.tenant_id = $1::text AND s.session_id = $2::text)
         ORDER BY x.target DESC, x.seq DESC) AS t
  CROSS JOIN LATERAL (
        SELECT * FROM cardbox.session_entries x
         WHERE x.tenant_id = $1::text AND x.session_key = $2::text AND x.entry_id = t.target
        OFFSET 0) AS e
  CROSS JOIN LATERAL cardbox.session_entry_rest($1::text, $2::text, e.entry_id, e.parent_seq, e.card_id,
                                                e.size <= $5::int4) AS r
 WHERE t.label IS NOT NULL
 ORDER BY t.target DESC
 LIMIT $4::int8
