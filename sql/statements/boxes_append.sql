-- Appends ids to boxes. Each append succeeds or fails on its own: see the function append_to_boxes.
-- $1 text[]   tenants
-- $2 uuid[]   boxes
-- $3 jsonb[]  ids
-- $4 int8[]   expected versions; NULL: any version
-- $5 text[]   idempotency keys; NULL: none
-- $6 bool     whether to wait for a locked box if there is only one append
SELECT c.ord, c.outcome, c.version, c.length
  FROM cardbox.append_to_boxes($1::text[], $2::uuid[], $3::jsonb[], $4::int8[], $5::text[], $6::bool) AS c
