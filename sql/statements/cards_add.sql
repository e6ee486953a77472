-- Adds cards, all or none: see the function. Arrays are parallel.
-- $1 text[] tenants, $2 text[] card ids, $3 json[] content, $4 jsonb[] projections or NULL,
-- $5 jsonb[] tool calls, $6 text[] tool call ids, $7 int4[] ttl_seconds, $8 jsonb[] metadata,
-- $9 timestamptz[] created_at, $10 timestamptz[] expires_at, $11 timestamptz[] deleted_at,
-- $12 bool[] sealed, $13 bool strict, $14 bool restore
SELECT a.ord::int8, a.outcome, a.other_id
  FROM cardbox.write_cards(
           $1::text[], $2::text[], $3::json[], $4::jsonb[], $5::jsonb[], $6::text[], $7::int4[],
           $8::jsonb[], $9::timestamptz[], $10::timestamptz[], $11::timestamptz[], $12::bool[],
           $13::bool, $14::bool) AS a
