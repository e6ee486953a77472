-- A page of all lines of a tenant's sessions, session by session in the order of the files: entries, of
-- which the card is named, and lines that are none.
-- Not coalesce, and the limit in a SELECT: see boxes_list.
-- $1 text  tenant
-- $2 text session, $3 int8 seq, $4 int4 ord  after this line; NULL: from the first
-- $5 int8  how many
WITH gone AS MATERIALIZED ( -- sessions that are being deleted, or are not whole yet
    SELECT r.session_id FROM cardbox.session_remains r WHERE r.tenant_id = $1::text
)
SELECT k.session_id, k.seq, CASE WHEN k.entry_id IS NULL THEN k.ord END, k.bytes, k.ring_id, k.entry_id,
       coalesce(p.entry_id, k.missing) AS parent_id, k.card_id, k.kind, k.before, k.after, k.target, k.label
  FROM (SELECT * FROM (
            (SELECT e.session_id, e.seq, 0 AS ord, e.entry_id, e.parent_seq, e.missing, e.kind, e.card_id,
                    e.before, e.after, e.target, e.label, NULL::bytea AS bytes, NULL::text AS ring_id
               FROM cardbox.session_entries e
              WHERE e.tenant_id = $1::text AND e.session_id <> ALL (ARRAY (SELECT g.session_id FROM gone g))
                AND (e.session_id, e.seq) > (greatest($2::text, ''), greatest($3::int8, -2))
              ORDER BY e.session_id, e.seq LIMIT (SELECT $5::int8))
            UNION ALL
            (SELECT l.session_id, l.seq, l.ord, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, l.bytes,
                    l.ring_id
               FROM cardbox.session_lines l
              WHERE l.tenant_id = $1::text AND l.session_id <> ALL (ARRAY (SELECT g.session_id FROM gone g))
                AND (l.session_id, l.seq, l.ord) > (greatest($2::text, ''), greatest($3::int8, -2), greatest($4::int4, 0))
              ORDER BY l.session_id, l.seq, l.ord LIMIT (SELECT $5::int8))) AS m
         ORDER BY m.session_id, m.seq, m.ord LIMIT (SELECT $5::int8)) AS k
  LEFT JOIN LATERAL (
        SELECT x.entry_id FROM cardbox.session_entries x
         WHERE x.tenant_id = $1::text AND x.session_id = k.session_id
           AND x.seq BETWEEN k.parent_seq AND k.parent_seq
         ORDER BY x.seq LIMIT 1) AS p ON true
 ORDER BY k.session_id, k.seq, k.ord
