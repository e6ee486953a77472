-- Appends entries to a session, and creates the session if it does not exist: see the function append_or_create. Row 0
-- has the outcome of the whole call. The other rows have the outcomes of the entries, in their order.
-- $1 to $16   see session_append.sql
-- $17 text    dialect of the new session, or NULL
-- $18 json    header of the new session, or NULL
-- $19 bool    whether the id may be that of a deleted session
SELECT u.number - 1, u.outcome, u.line, a.version
  FROM cardbox.append_or_create(
       $1::text, $2::text, $3::text, $4::int8, $5::text, $6::text[], $7::int4[], $8::text[], $9::int4[], $10::text[], $11::text[], $12::text[],
       $13::text[], $14::json[], $15::json[], $16::int8[], $17::text, $18::json, $19::bool) AS a
 CROSS JOIN LATERAL unnest(array_prepend(a.outcome, a.outcomes), array_prepend(NULL, a.lines))
       WITH ORDINALITY AS u(outcome, line, number)
 ORDER BY u.number
