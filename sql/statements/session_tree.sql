-- A page of all entries, in their order.
-- $1 text tenant, $2 text session
-- $3 int8 only behind this seq, $4 int8 how many, $5 int4 bytes of a line; NULL: none is wanted
SELECT e.seq, e.entry_id, r.parent_id, e.depth, e.kind, e.missing, e.size, e.card_id,
       r.label, r.raw, NULL::int8 AS extra
  FROM (SELECT * FROM cardbox.session_entries e
         WHERE e.tenant_id = $1::text AND e.session_id = $2::text AND e.seq > $3::int8
           AND EXISTS (SELECT FROM cardbox.sessions s WHERE s.tenant_id = $1::text AND s.session_id = $2::text)
         ORDER BY e.seq LIMIT $4::int8) AS e
  CROSS JOIN LATERAL cardbox.session_entry_rest($1::text, $2::text, e.entry_id, e.parent_seq, e.card_id,
                                                e.size <= $5::int4) AS r
 ORDER BY e.seq
