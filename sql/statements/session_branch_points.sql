-- A page of the entries with more than one child, and how many each has.
-- $1 text tenant, $2 text session
-- $3 int8 only behind this seq, $4 int8 how many, $5 int4 bytes of a line; NULL: none
SELECT e.seq, e.entry_id, r.parent_id, e.depth, e.kind, e.missing, e.size, e.card_id,
       r.label, r.raw, b.children AS extra
  FROM (SELECT e.parent_seq, count(*) + 1 AS children FROM cardbox.session_entries e
         WHERE e.tenant_id = $1::text AND e.session_key = $2::text AND e.seq = e.branch AND e.parent_seq > $3::int8
           AND EXISTS (SELECT FROM cardbox.sessions s WHERE s.tenant_id = $1::text AND s.session_id = $2::text)
         GROUP BY e.parent_seq ORDER BY e.parent_seq LIMIT $4::int8) AS b
  CROSS JOIN LATERAL (
        SELECT * FROM cardbox.session_entries x
         WHERE x.tenant_id = $1::text AND x.session_id = $2::text
           AND x.seq BETWEEN b.parent_seq AND b.parent_seq
         ORDER BY x.seq LIMIT 1) AS e
  CROSS JOIN LATERAL cardbox.session_entry_rest($1::text, $2::text, e.entry_id, e.parent_seq, e.card_id,
                                                e.size <= $5::int4) AS r
 ORDER BY b.parent_seq
