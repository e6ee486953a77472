-- A page of boxes without their ids, newest first. Columns as in boxes_with_card: all are of the page.
-- That a box was not deleted is said as its index has it.
-- Not coalesce(), which is not leakproof: test_plans.py test_plans_of_workers.
-- $1 text  tenant
-- $2 timestamptz, $3 uuid  the last row of the page before; NULL: from the newest
-- $4 int8  how many
SELECT 1::int8, b.box_id, b.version, b.length, b.parent_ids, b.created_at, b.updated_at
  FROM cardbox.card_boxes b
 WHERE b.tenant_id = $1::text AND CASE WHEN b.deleted_at IS NULL THEN true ELSE false END
   AND (b.created_at, b.box_id) < (least($2::timestamptz, 'infinity'),
                                   least($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
 ORDER BY b.created_at DESC, b.box_id DESC
 LIMIT $4::int8
