-- A page of a session's lines as they were, in their order: of an entry its JSON and what stands around
-- it, of any other line all of it; and what the store has made of an entry that may say no id, and the
-- first entry that a compaction keeps, of which it may say no more than an index.
-- $1 text tenant, $2 text session, $3 int8, $4 int4 only behind this place
-- $5 int8 how many, $6 int8 bytes, but always one line
SELECT k.seq, k.ord, k.before, c.content, k.after, k.entry_id, p.entry_id AS parent_id, k.missing, k.is_ring,
       CASE WHEN k.kind IN (4, 260)
            THEN cardbox.kept_entry($1::text, $2::text, k.seq, k.target, c.content) END AS kept
  FROM (SELECT m.*, sum(m.size) OVER (ORDER BY m.seq, m.ord) - m.size AS so_far
          FROM ((SELECT e.seq, 0 AS ord, e.before, e.card_id, e.after, e.size,
                        e.entry_id, e.parent_seq, e.missing, false AS is_ring, e.kind, e.target
                   FROM cardbox.session_entries e
                  WHERE e.tenant_id = $1::text AND e.session_id = $2::text AND e.seq > $3::int8
                  ORDER BY e.seq LIMIT $5::int8)
                UNION ALL
                (SELECT l.seq, l.ord, l.bytes, NULL::text, NULL::bytea, octet_length(l.bytes),
                        NULL::text, NULL::int8, NULL::text, l.ring_id IS NOT NULL, NULL::int4, NULL::text
                   FROM cardbox.session_lines l
                  WHERE l.tenant_id = $1::text AND l.session_id = $2::text
                    AND (l.seq, l.ord) > ($3::int8, $4::int4)
                  ORDER BY l.seq, l.ord LIMIT $5::int8)) AS m
         ORDER BY m.seq, m.ord LIMIT $5::int8) AS k
  LEFT JOIN LATERAL (
        SELECT x.content, x.card_id FROM cardbox.cards x
         WHERE x.tenant_id = $1::text AND x.card_id BETWEEN k.card_id AND k.card_id
         ORDER BY x.card_id LIMIT 1) AS c ON c.card_id = k.card_id
  LEFT JOIN LATERAL (
        SELECT x.entry_id FROM cardbox.session_entries x
         WHERE x.tenant_id = $1::text AND x.session_id = $2::text
           AND x.seq BETWEEN k.parent_seq AND k.parent_seq
         ORDER BY x.seq LIMIT 1) AS p ON true
 WHERE k.so_far < $6::int8
 ORDER BY k.seq, k.ord
