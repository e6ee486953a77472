-- Appends messages to a session, after a given entry or with the settings of their request: see the function
-- add_messages. Row 0 has the outcome of the whole call. The other rows have the outcomes of the messages, in their order.
-- $1 to $17   see session_append.sql
-- $18 text    id of the entry with the settings; NULL: no settings are given
-- $19 text    format of the messages
-- $20 json    system text; NULL: not given
-- $21 json    tools; NULL: not given
-- $22 json    parameters; NULL: not given
-- $23 bool    whether the session may be created
-- $24 bool    whether the id may be that of a deleted session
SELECT u.number - 1, u.outcome, u.line, a.version,
       CASE WHEN u.number = 1 AND a.outcome = 'done' AND $17::jsonb IS NOT NULL
            THEN cardbox.count_usage($1::text, $2::text, a.outcomes, $17::jsonb) END
  FROM cardbox.add_messages(
       $1::text, $2::text, $3::text, $4::int8, $5::text, $6::text[], $7::int4[], $8::text[], $9::int4[], $10::text[], $11::text[], $12::text[],
       $13::text[], $14::json[], $15::json[], $16::int8[], $18::text, $19::text, $20::json, $21::json, $22::json, $23::bool, $24::bool) AS a
 CROSS JOIN LATERAL unnest(array_prepend(a.outcome, a.outcomes), array_prepend(NULL, a.lines))
       WITH ORDINALITY AS u(outcome, line, number)
 ORDER BY u.number
