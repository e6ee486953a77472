-- Sets the creation times of imported boxes.
-- $1 text[]         tenants
-- $2 uuid[]         boxes
-- $3 timestamptz[]  times
SELECT cardbox.set_boxes_created($1::text[], $2::uuid[], $3::timestamptz[])
