-- A page of the children of an entry, or of the roots, in their order.
-- Roots are found among the branches, by session_id: by session_key PostgreSQL read the branches of all sessions.
-- $1 text tenant, $2 text session, $3 text entry, '' for the roots
-- $4 int8 only behind this seq, $5 int8 how many, $6 int4 bytes of a line; NULL: none is wanted
WITH above AS MATERIALIZED (
    SELECT e.seq, e.branch, e.depth FROM cardbox.session_entries e
     WHERE e.tenant_id = $1::text AND e.session_key = $2::text AND e.entry_id = $3::text
)
SELECT e.seq, e.entry_id, r.parent_id, e.depth, e.kind, e.missing, e.size, e.card_id,
       r.label, r.raw, NULL::int8 AS extra
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
              WHERE $3::text = '' AND e.tenant_id = $1::text AND e.session_id = $2::text AND e.seq = e.branch
                AND e.parent_seq IS NULL AND e.seq > $4::int8
              ORDER BY e.seq LIMIT $5::int8)) AS k
         WHERE EXISTS (SELECT FROM cardbox.sessions s WHERE s.tenant_id = $1::text AND s.session_id = $2::text)
         ORDER BY k.seq LIMIT $5::int8) AS e
  CROSS JOIN LATERAL cardbox.session_entry_rest($1::text, $2::text, e.entry_id, e.parent_seq, e.card_id,
                                                e.size <= $6::int4) AS r
 ORDER BY e.seq
