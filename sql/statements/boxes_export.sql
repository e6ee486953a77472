-- A page of the ids of a tenant's boxes, in their order.
-- Not coalesce(): see boxes_list.
-- $1 text  tenant
-- $2 uuid  after this box; NULL: from the first
-- $3 int8  how many
SELECT b.box_id FROM cardbox.card_boxes b
 WHERE b.tenant_id = $1::text AND b.deleted_at IS NULL
   AND b.box_id >= greatest($2::uuid, '00000000-0000-0000-0000-000000000000')
   AND b.box_id IS DISTINCT FROM $2::uuid
 ORDER BY b.box_id LIMIT $3::int8
