-- Lists a page of boxes without their ids, newest first. The columns are those of boxes_with_card. The condition on
-- deleted_at is that of the index card_boxes_live.
--
-- The condition has no coalesce(), because coalesce() is not leakproof: with row-level security PostgreSQL would use no
-- index for the condition (test_plans.py test_plans_of_workers).
-- $1 text         tenant
-- $2 timestamptz  creation time of the last box of the previous page; NULL: the first page
-- $3 uuid         id of the last box of the previous page
-- $4 int8         maximum number of boxes
-- $5 bool         whether to return previews; otherwise they are NULL
SELECT 1::int8, b.box_id, b.version, b.length, b.parent_ids, b.created_at, b.updated_at, b.sealed,
       CASE WHEN $5::bool THEN cardbox.box_preview($1::text, b.box_id) END
  FROM cardbox.card_boxes b
 WHERE b.tenant_id = $1::text AND CASE WHEN b.deleted_at IS NULL THEN true ELSE false END
   AND (b.created_at, b.box_id) < (least($2::timestamptz, 'infinity'),
                                   least($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
 ORDER BY b.created_at DESC, b.box_id DESC
 LIMIT $4::int8
