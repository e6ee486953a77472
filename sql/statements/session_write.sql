-- Writes lines to a session: see the functions write_lines and write_session.
-- $1 text tenant, $2 text session, $3 bool import, $4 int4 dialect or NULL,
-- $5 int8 expected version or NULL, $6 text key or NULL,
-- $7 int8[] seqs, $8 int4[] ords, $9 text[] entry ids, $10 int4[] twins, $11 text[] parents,
-- $12 int4[] parents' places, $13 int4[] kinds, $14 json[] lines, $15 bytea[] before,
-- $16 bytea[] after, $17 text[] targets, $18 json[] labels
SELECT w.place, w.outcome, w.seq, w.version
  FROM cardbox.write_lines($1::text, $2::text, $3::bool, $4::int4, $5::int8, $6::text,
       $7::int8[], $8::int4[], $9::text[], $10::int4[], $11::text[], $12::int4[], $13::int4[],
       $14::json[], $15::bytea[], $16::bytea[], $17::text[], $18::json[]) AS w
