-- A page of the children of an entry, or of the roots, in their order.
-- $1 text tenant, $2 text session, $3 text entry, '' for the roots
-- $4 int8 only behind this seq, $5 int8 how many, $6 int4 bytes of a line; NULL: none is wanted
WITH above AS MATERIALIZED (
    SELECT e.seq, e.branch, e.depth FROM cardbox.session_entries e
     WHERE e.tenant_id = $1::text AND e.session_key = $2::text AND e.entry_id = $3::text
)
SELECT e.seq, e.entry_id, p.entry_id AS parent_id, e.depth, e.kind, e.missing, e.size, e.card_id,
       l.label, c.raw, NULL::int8 AS extra
  FROM (SELECT k.* FROM (
            (SELECT e.* FROM above a
               JOIN cardbox.session_entries e
                 ON e.tenant_id = $1::text AND e.session_key = $2::text AND e.branch = a.branch
                AND e.depth = a.depth + 1 AND e.seq > $4::int8)
            UNION ALL
            (SELECT e.* FROM cardbox.session_entries e
              WHERE e.tenant_id = $1::text AND e.session_key = $2::text AND e.seq = e.branch
                AND e.parent_seq = (SELECT a.seq FROM above a) AND e.seq > $4::int8
              ORDER BY e.parent_seq, e.seq LIMIT $5::int8)
            UNION ALL
            (SELECT e.* FROM cardbox.session_entries e
              WHERE $3::text = '' AND e.tenant_id = $1::text AND e.session_key = $2::text AND e.seq = e.branch
                AND e.parent_seq IS NULL AND e.seq > $4::int8
              ORDER BY e.parent_seq, e.seq LIMIT $5::int8)) AS k
         ORDER BY k.seq LIMIT $5::int8) AS e
  LEFT JOIN LATERAL (
        SELECT x.entry_id FROM cardbox.session_entries x
         WHERE x.tenant_id = $1::text AND x.session_id = $2::text AND x.seq = e.parent_seq
        OFFSET 0) AS p ON true
  LEFT JOIN LATERAL (
        SELECT (array_agg(x.label ORDER BY x.seq DESC))[1] AS label FROM cardbox.session_entries x
         WHERE x.tenant_id = $1::text AND x.session_key = $2::text AND x.target = e.entry_id) AS l ON true
  LEFT JOIN LATERAL (
        SELECT x.raw FROM cardbox.cards x
         WHERE x.tenant_id = $1::text AND x.card_id = e.card_id AND e.size <= $6::int4
        OFFSET 0) AS c ON true
 ORDER BY e.seq
