-- A page of leaves: the ends of branches, in the order of the branches.
-- $1 text tenant, $2 text session
-- $3 int8 only of branches behind this one, $4 int8 how many, $5 int4 bytes of a line; NULL: none
SELECT e.seq, e.entry_id, r.parent_id, e.depth, e.kind, e.missing, e.size, e.card_id,
       r.label, r.raw, b.seq AS extra
  FROM (SELECT e.seq FROM cardbox.session_entries e
         WHERE e.tenant_id = $1::text AND e.session_id = $2::text AND e.seq = e.branch AND e.seq > $3::int8
           AND EXISTS (SELECT FROM cardbox.sessions s WHERE s.tenant_id = $1::text AND s.session_id = $2::text)
         ORDER BY e.seq LIMIT $4::int8) AS b
 CROSS JOIN LATERAL (
        SELECT * FROM cardbox.session_entries e
         WHERE e.tenant_id = $1::text AND e.session_key = $2::text AND e.branch = b.seq
         ORDER BY e.depth DESC LIMIT 1) AS e
  CROSS JOIN LATERAL cardbox.session_entry_rest($1::text, $2::text, e.entry_id, e.parent_seq, e.card_id,
                                                e.size <= $5::int4) AS r
 ORDER BY b.seq
