-- Writes lines to a session: see the functions write_lines and write_session, and of an import's
-- hold_session.
-- $1 text tenant, $2 text session, $3 bool import, $4 int4 dialect or NULL,
-- $5 int8 expected version or NULL, $6 text key or NULL,
-- $7 int8[] seqs, $8 int4[] ords, $9 text[] entry ids, $10 int4[] twins, $11 text[] parents,
-- $12 int4[] parents' places, $13 int4[] kinds, $14 json[] lines, $15 bytea[] before,
-- $16 bytea[] after, $17 text[] targets, $18 json[] labels
-- Of an import:
-- $19 int8 when the session of the lines before was made, as it was answered; NULL: there were none
-- $20 text the id of the file's header, '' it has none, NULL any file will do
-- $21 text the entry before, which '' stands for as a parent; NULL: there is none
-- The rows come in the order of the lines, that of the whole (place 0) first.
-- Of an import's headers, and lines that are entries but none of the session's tree, was_there says whether
-- they stood at their places before this statement: false, another did; NULL, the session ended before.
SELECT w.place, CASE WHEN s.is_new AND w.place = 0 AND w.outcome = 2 THEN 1 ELSE w.outcome END AS outcome,
       w.seq, w.version, (extract(epoch FROM s.made) * 1000000)::int8 AS made,
       CASE WHEN $3::bool AND w.place > 0 AND (w.outcome IN (3, 6, 9) OR ($13::int4[])[w.place] = -2) THEN
            (SELECT coalesce((SELECT k.bytes <> '' AND k.bytes = substring(
                              CASE WHEN ($13::int4[])[w.place] < 0 THEN ($15::bytea[])[w.place]
                                   ELSE cardbox.session_line(($15::bytea[])[w.place], ($14::json[])[w.place],
                                                             ($16::bytea[])[w.place]) END
                              FOR octet_length(k.bytes)) -- the last line may have had no end
                                FROM cardbox.session_lines k
                               WHERE k.tenant_id = $1::text AND k.session_id = $2::text
                                 AND k.seq = ($7::int8[])[w.place] AND k.ord = ($8::int4[])[w.place]), false)
               FROM cardbox.sessions x
              WHERE x.tenant_id = $1::text AND x.session_id = $2::text
                AND (($7::int8[])[w.place], ($8::int4[])[w.place]) <= (x.last_seq, x.last_ord)) END AS was_there
  FROM cardbox.hold_session(
       $1::text, $2::text, $3::bool, $4::int4,
       timestamptz 'epoch' + $19::int8 * interval '1 microsecond', $20::text) AS s
 CROSS JOIN LATERAL cardbox.write_lines( -- behind that: it takes something of it
       $1::text, $2::text, s.made IS NOT NULL, $4::int4, $5::int8, $6::text,
       $7::int8[], $8::int4[], $9::text[], $10::int4[], array_replace($11::text[], '', $21::text), $12::int4[], $13::int4[],
       $14::json[], $15::bytea[], $16::bytea[], $17::text[], $18::json[]) AS w
 ORDER BY w.place
