-- Creates a box.
-- $1 text         tenant
-- $2 uuid         box
-- $3 jsonb        ids
-- $4 jsonb        ids of parent boxes
-- $5 timestamptz  creation time; NULL: now
-- $6 bool         whether the box may already exist; false: the outcome of an existing box is 6
SELECT c.outcome, c.version, c.length
  FROM cardbox.create_box($1::text, $2::uuid, $3::jsonb, $4::jsonb, $5::timestamptz, $6::bool) AS c
