-- Lists a page of the ids of a tenant's boxes, in the order of the ids. Deleted boxes are left out. See boxes_list.sql
-- for why the condition has no coalesce().
-- $1 text  tenant
-- $2 uuid  last box of the previous page; NULL: the first page
-- $3 int8  maximum number of boxes
SELECT b.box_id FROM cardbox.card_boxes b
 WHERE b.tenant_id = $1::text AND b.deleted_at IS NULL
   AND b.box_id >= greatest($2::uuid, '00000000-0000-0000-0000-000000000000')
   AND b.box_id IS DISTINCT FROM $2::uuid
 ORDER BY b.box_id LIMIT $3::int8
