-- The lines that the context of an entry is made of, and which entry that is.
-- $1 text tenant, $2 text session, $3 text entry, '' the head
-- $4 int8 bytes of lines: with more none is given
-- kept is the first entry that a compaction keeps.
-- The text is null of entries that are in no context whatever they say (custom, label, session_info,
-- metadata). That of an entry whose card is missing is the JSON null, which none has that is there.
-- Cards of a session lie side by side in their index, in the order of its lines: they are read in runs of
-- sixteen, whose ids differ in the last digit, which costs half of what looking up each does. The full
-- join, of which only the entries are kept, can't be made by comparing each with each.
-- The path's end is found by its place, in the order of places: PostgreSQL takes any session for one of a
-- single entry, so a join would as soon read all of them.
WITH goal AS MATERIALIZED (
    SELECT s.dialect, s.header, e.seq, e.entry_id, e.depth
      FROM cardbox.sessions s
     CROSS JOIN LATERAL (
            SELECT CASE WHEN $3::text = '' THEN s.head_seq ELSE (
                   SELECT x.seq FROM cardbox.session_entries x
                    WHERE x.tenant_id = $1::text AND x.session_key = $2::text AND x.entry_id = $3::text) END
            OFFSET 0) AS k(seq)
      LEFT JOIN LATERAL (
            SELECT x.seq, x.entry_id, x.depth FROM cardbox.session_entries x
             WHERE x.tenant_id = $1::text AND x.session_id = $2::text AND x.seq BETWEEN k.seq AND k.seq
             ORDER BY x.seq LIMIT 1) AS e ON true
     WHERE s.tenant_id = $1::text AND s.session_id = $2::text
), path AS MATERIALIZED (
    SELECT e.seq, e.entry_id, e.depth, e.kind, e.card_id, e.size, e.target, e.kind % 256 NOT IN (6, 8, 9, 15) AS speaks
      FROM goal g
     CROSS JOIN LATERAL cardbox.context_path($1::text, $2::text, g.seq) AS w
     CROSS JOIN LATERAL (
            SELECT * FROM cardbox.session_entries x
             WHERE x.tenant_id = $1::text AND x.session_key = $2::text AND x.branch = w.branch
               AND x.depth BETWEEN w.low AND w.high
            OFFSET 0) AS e
), total AS MATERIALIZED (
    SELECT sum(p.size) <= $4::int8 AS fits FROM path p WHERE p.speaks
)
SELECT -1::int8 AS seq, g.entry_id, g.depth, coalesce(g.dialect, -1) AS kind, g.header AS text,
       NULL::text AS kept
  FROM goal g
UNION ALL
SELECT e.seq, e.entry_id, e.depth, e.kind,
       CASE WHEN t.fits AND e.speaks THEN coalesce(c.content, 'null'::json) END,
       CASE WHEN e.kind IN (4, 260)
            THEN cardbox.kept_entry($1::text, $2::text, e.seq, e.target, c.content) END
  FROM path e CROSS JOIN total t
  FULL JOIN (
        SELECT x.card_id, x.content
          FROM (SELECT min(p.card_id) AS low, max(p.card_id) AS high
                  FROM path p CROSS JOIN total f
                 WHERE p.speaks AND f.fits GROUP BY left(p.card_id, 35)) AS run
         CROSS JOIN LATERAL (
                SELECT y.card_id, y.content FROM cardbox.cards y
                 WHERE y.tenant_id = $1::text AND y.card_id BETWEEN run.low AND run.high
                 ORDER BY y.card_id OFFSET 0) AS x) AS c ON c.card_id = e.card_id
 WHERE coalesce(e.seq, -1) >= 0
