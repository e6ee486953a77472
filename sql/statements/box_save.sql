-- Replaces the list of a box, or creates the box.
-- $1 text         tenant
-- $2 uuid         box
-- $3 jsonb        ids
-- $4 jsonb        ids of parent boxes, for a new box
-- $5 int8         expected version; 0: any; NULL: any, and the box may be missing
-- $6 timestamptz  time of the change; NULL: now
SELECT c.outcome, c.version, c.length
  FROM cardbox.save_box($1::text, $2::uuid, $3::jsonb, $4::jsonb, $5::int8, $6::timestamptz) AS c
