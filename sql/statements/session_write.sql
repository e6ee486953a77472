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
SELECT w.place, CASE WHEN s.is_new AND w.place = 0 AND w.outcome = 2 THEN 1 ELSE w.outcome END AS outcome,
       w.seq, w.version, (extract(epoch FROM s.made) * 1000000)::int8 AS made
  FROM cardbox.hold_session(
       $1::text, $2::text, $3::bool, $4::int4,
       timestamptz 'epoch' + $19::int8 * interval '1 microsecond', $20::text) AS s
 CROSS JOIN LATERAL cardbox.write_lines( -- behind that: it takes something of it
       $1::text, $2::text, s.made IS NOT NULL, $4::int4, $5::int8, $6::text,
       $7::int8[], $8::int4[], $9::text[], $10::int4[], array_replace($11::text[], '', $21::text), $12::int4[], $13::int4[],
       $14::json[], $15::bytea[], $16::bytea[], $17::text[], $18::json[]) AS w
