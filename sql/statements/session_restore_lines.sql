-- Puts lines of an export into a session: see the function. One row a line: its place from 1, its outcome.
-- $1 text tenant, $2 text session, $3 int8[] seqs, $4 int4[] ords, $5 text[] entry ids, $6 text[] parents,
-- $7 int4[] kinds, $8 text[] cards, $9 bytea[] before, $10 bytea[] after, $11 text[] targets,
-- $12 json[] labels, $13 bytea[] lines that are no entries, $14 text[] ids in rings
SELECT r.place, r.outcome
  FROM cardbox.restore_held_lines($1::text, $2::text, $3::int8[], $4::int4[], $5::text[], $6::text[],
       $7::int4[], $8::text[], $9::bytea[], $10::bytea[], $11::text[], $12::json[], $13::bytea[],
       $14::text[]) AS r
