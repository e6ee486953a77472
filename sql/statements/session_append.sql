-- Appends entries to a session: see the function append_entries. Row 0 has the outcome of the whole call. The other
-- rows have the outcomes of the entries, in their order.
-- $1 text     tenant
-- $2 text     session
-- $3 text     dialect, or NULL
-- $4 int8     expected version; NULL: any version
-- $5 text     idempotency key; NULL: none
-- $6 text[]   ids
-- $7 int4[]   duplicate_of
-- $8 text[]   parents
-- $9 int4[]   refs
-- $10 text[]  types
-- $11 text[]  roles
-- $12 text[]  sets
-- $13 text[]  targets
-- $14 json[]  labels
-- $15 json[]  contents
-- $16 int8[]  times in milliseconds that are added as timestamps; NULL: none
-- $17 jsonb   numbers of tokens of the entries: see the function add_usage; NULL: none
SELECT u.number - 1, u.outcome, u.line, a.version,
       CASE WHEN u.number = 1 AND a.outcome = 'done' AND $17::jsonb IS NOT NULL
            THEN cardbox.count_usage($1::text, $2::text, a.outcomes, $17::jsonb) END
  FROM cardbox.append_entries(
       $1::text, $2::text, $3::text, $4::int8, $5::text, $6::text[], $7::int4[], $8::text[], $9::int4[],
       $10::text[], $11::text[], $12::text[], $13::text[], $14::json[], $15::json[], $16::int8[]) AS a
 CROSS JOIN LATERAL unnest(array_prepend(a.outcome, a.outcomes), array_prepend(NULL, a.lines))
       WITH ORDINALITY AS u(outcome, line, number)
 ORDER BY u.number
