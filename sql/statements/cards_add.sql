-- Writes cards: see the function write_cards. The arrays are parallel.
-- $1 text[]          tenants
-- $2 text[]          card ids
-- $3 json[]          content
-- $4 jsonb[]         tool calls
-- $5 text[]          tool call ids
-- $6 int4[]          ttl_seconds
-- $7 jsonb[]         metadata
-- $8 timestamptz[]   created_at
-- $9 timestamptz[]   expires_at
-- $10 timestamptz[]  deleted_at
-- $11 bool[]         sealed
-- $12 bool[]         strict
-- $13 bool[]         restore
-- $14 bool           true: all cards or none are written; false: each card on its own
SELECT a.ord, a.outcome, a.other_id
  FROM cardbox.write_cards(
           $1::text[], $2::text[], $3::json[], $4::jsonb[], $5::text[], $6::int4[], $7::jsonb[],
           $8::timestamptz[], $9::timestamptz[], $10::timestamptz[], $11::bool[], $12::bool[],
           $13::bool[], $14::bool) AS a
