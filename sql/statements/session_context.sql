-- The lines that the context of an entry is made of, and which entry that is.
-- $1 text tenant, $2 text session, $3 text entry, '' the head
-- $4 int8 bytes of lines: with more none is given
-- The text is null of entries that are in no context whatever they say (custom, label, session_info,
-- metadata). That of an entry whose card is missing is the JSON null, which none has that is there.
WITH goal AS MATERIALIZED (
    SELECT s.dialect, s.header, e.seq, e.entry_id, e.depth
      FROM cardbox.sessions s
      LEFT JOIN cardbox.session_entries e
        ON e.tenant_id = $1::text AND e.session_id = $2::text
       AND e.seq = CASE WHEN $3::text = '' THEN s.head_seq ELSE (
               SELECT x.seq FROM cardbox.session_entries x
                WHERE x.tenant_id = $1::text AND x.session_key = $2::text AND x.entry_id = $3::text) END
     WHERE s.tenant_id = $1::text AND s.session_id = $2::text
), path AS MATERIALIZED (
    SELECT e.seq, e.entry_id, e.depth, e.kind,
           CASE WHEN e.kind % 256 NOT IN (6, 8, 9, 15) THEN e.card_id END AS card_id,
           sum(e.size) FILTER (WHERE e.kind % 256 NOT IN (6, 8, 9, 15)) OVER () AS total
      FROM goal g
     CROSS JOIN LATERAL cardbox.context_path($1::text, $2::text, g.seq) AS w
     CROSS JOIN LATERAL (
            SELECT * FROM cardbox.session_entries x
             WHERE x.tenant_id = $1::text AND x.session_key = $2::text AND x.branch = w.branch
               AND x.depth BETWEEN w.low AND w.high
            OFFSET 0) AS e
)
SELECT -1::int8 AS seq, g.entry_id, g.depth, coalesce(g.dialect, -1) AS kind, g.header AS text FROM goal g
UNION ALL
SELECT e.seq, e.entry_id, e.depth, e.kind,
       CASE WHEN e.total <= $4::int8 AND e.card_id IS NOT NULL THEN coalesce(c.raw, 'null'::json) END
  FROM path e
  LEFT JOIN LATERAL (
        SELECT x.raw, x.card_id FROM cardbox.cards x
         WHERE x.tenant_id = $1::text AND x.card_id BETWEEN e.card_id AND e.card_id AND e.total <= $4::int8
         ORDER BY x.card_id LIMIT 1) AS c ON c.card_id = e.card_id
