-- Appends entries to a session, and creates the session if it does not exist: see the function append_or_create. Row 0
-- has the outcome of the whole call. The other rows have the outcomes of the entries, in their order. If the
-- call of an entry was looked up, its row has the result of find_call().
-- $1 to $18   see session_append.sql
-- $19 text    dialect of the new session, or NULL
-- $20 json    header of the new session, or NULL
-- $21 bool    whether the id may be that of a deleted session
SELECT u.number - 1, u.outcome, u.line, a.version, c.line, c.results, c.content
  FROM cardbox.append_or_create(
       $1::text, $2::text, $3::text, $4::int8, $5::text, $6::text[], $7::int4[], $8::text[], $9::int4[], $10::text[], $11::text[], $12::text[],
       $13::text[], $14::json[], $15::json[], $16::int8[], $19::text, $20::json, $21::bool) AS a
 CROSS JOIN LATERAL unnest(array_prepend(a.outcome, a.outcomes), array_prepend(NULL, a.lines))
       WITH ORDINALITY AS u(outcome, line, number)
  LEFT JOIN LATERAL cardbox.find_call($1::text, $2::text, a.lines[($17::int4[])[u.number - 1]],
                                      ($18::text[])[u.number - 1]) AS c ON true
 ORDER BY u.number
