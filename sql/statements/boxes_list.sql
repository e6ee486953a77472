-- A page of boxes without their ids, newest first. Columns as in boxes_with_card: all are of the page.
-- That a box was not deleted is said as its index has it. (IS NULL would let PostgreSQL look up single boxes in that
-- index too, which has no box without its time, and without statistics it takes NULL for rare.)
-- How many are wanted stands in a SELECT of its own: planned for a number that it knows, as the first times are
-- and all through a pooler, PostgreSQL would read and sort all there is rather than go by the index that has the
-- order, since it takes any tenant for small.
-- `least` and no coalesce: behind a worker's policy PostgreSQL asks an index only what it knows to betray
-- nothing of other rows, and of a coalesce it does not.
-- $1 text  tenant
-- $2 timestamptz, $3 uuid  the last row of the page before; NULL: from the newest
-- $4 int8  how many
SELECT 1::int8, b.box_id, b.version, b.length, b.parent_ids, b.created_at, b.updated_at
  FROM cardbox.card_boxes b
 WHERE b.tenant_id = $1::text AND CASE WHEN b.deleted_at IS NULL THEN true ELSE false END
   AND (b.created_at, b.box_id) < (least($2::timestamptz, 'infinity'),
                                   least($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
 ORDER BY b.created_at DESC, b.box_id DESC
 LIMIT (SELECT $4::int8)
