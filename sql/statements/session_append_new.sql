-- Appends entries to a session, and creates the session if it does not exist: see the function append_or_create. Row 0
-- has the outcome of the whole call. The other rows have the outcomes of the entries, in their order.
-- $1 to $17   see session_append.sql
-- $18 text    dialect of the new session, or NULL
-- $19 json    header of the new session, or NULL
-- $20 bool    whether the id may be that of a deleted session
SELECT u.number - 1, u.outcome, u.line, a.version,
       CASE WHEN u.number = 1 AND a.outcome = 'done' AND $17::jsonb IS NOT NULL
            THEN cardbox.count_usage($1::text, $2::text, a.outcomes, $17::jsonb) END
  FROM cardbox.append_or_create(
       $1::text, $2::text, $3::text, $4::int8, $5::text, $6::text[], $7::int4[], $8::text[], $9::int4[], $10::text[], $11::text[], $12::text[],
       $13::text[], $14::json[], $15::json[], $16::int8[], $18::text, $19::json, $20::bool) AS a
 CROSS JOIN LATERAL unnest(array_prepend(a.outcome, a.outcomes), array_prepend(NULL, a.lines))
       WITH ORDINALITY AS u(outcome, line, number)
 ORDER BY u.number
