-- Writes sums of a project's export: see the function save_usage.
-- $1 text    tenant
-- $2 text[]  sources: session or task
-- $3 text[]  ids of the sources
-- $4 text[]  days
-- $5 text[]  models
-- $6 int8[]  input tokens
-- $7 int8[]  cached input tokens
-- $8 int8[]  output tokens
-- $9 text[]  costs; NULL: none
SELECT s.number, s.outcome
  FROM cardbox.save_usage($1::text, $2::text[], $3::text[], $4::text[], $5::text[], $6::int8[], $7::int8[], $8::int8[],
                          $9::text[]) AS s
