-- The way from a root to an entry, of which a part: rows in any order, their depth tells. One more row,
-- of seq -1, tells that there is such a session: its entry_id is the path's end, NULL if there is no
-- such entry, its depth that entry's, its kind the dialect or -1, and its text the session's header.
-- $1 text tenant, $2 text session, $3 text entry, '' the head
-- $4 int4 from this depth, $5 int4 to this one
-- $6 int8 bytes of lines: with more none is given; NULL: none is wanted
-- kept is, where lines are wanted, the first entry that a compaction keeps.
-- The text of an entry whose card is missing is the JSON null, which none has that is there.
-- An entry's parent is the one before it, which is looked up for the first of a part alone.
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
    SELECT e.*, sum(e.size) OVER () AS total, lag(e.entry_id) OVER (ORDER BY e.depth) AS above
      FROM goal g
     CROSS JOIN LATERAL cardbox.session_path($1::text, $2::text, g.seq) AS w
     CROSS JOIN LATERAL (
            SELECT * FROM cardbox.session_entries x
             WHERE x.tenant_id = $1::text AND x.session_key = $2::text AND x.branch = w.branch
               AND x.depth BETWEEN greatest(w.low, $4::int4) AND least(w.high, $5::int4)
            OFFSET 0) AS e
)
SELECT -1::int8 AS seq, g.entry_id, NULL::text AS parent_id, g.depth, coalesce(g.dialect, -1) AS kind,
       NULL::text AS missing, NULL::int4 AS size, NULL::text AS card_id, NULL::json AS label,
       g.header AS text, NULL::int8 AS extra, NULL::text AS kept
  FROM goal g
UNION ALL
SELECT e.seq, e.entry_id, coalesce(e.above, r.parent_id), e.depth, e.kind, e.missing, e.size, e.card_id,
       r.label, CASE WHEN e.total <= $6::int8 THEN coalesce(c.content, 'null'::json) END, NULL,
       CASE WHEN e.kind IN (4, 260) AND c.content IS NOT NULL
            THEN cardbox.kept_entry($1::text, $2::text, e.seq, e.target, c.content) END
  FROM path e
  CROSS JOIN LATERAL cardbox.session_entry_rest($1::text, $2::text, e.entry_id, e.parent_seq, e.card_id,
                                                false) AS r
  LEFT JOIN LATERAL (
        SELECT x.content, x.card_id FROM cardbox.cards x
         WHERE x.tenant_id = $1::text AND x.card_id BETWEEN e.card_id AND e.card_id AND e.total <= $6::int8
         ORDER BY x.card_id LIMIT 1) AS c ON c.card_id = e.card_id
