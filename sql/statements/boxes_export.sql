-- A page of the ids of a tenant's boxes, in their order.
-- Without statistics PostgreSQL takes NULL for rare; of a CASE it thinks nothing, and so keeps to the index
-- that gives the order: not as boxes_list says it, whose index has another.
-- Not coalesce, and the limit in a SELECT: see boxes_list.
-- $1 text  tenant
-- $2 uuid  after this box; NULL: from the first
-- $3 int8  how many
SELECT b.box_id FROM cardbox.card_boxes b
 WHERE b.tenant_id = $1::text AND CASE WHEN b.deleted_at IS NOT NULL THEN false ELSE true END
   AND b.box_id >= greatest($2::uuid, '00000000-0000-0000-0000-000000000000')
   AND ($2::uuid IS NULL OR b.box_id <> $2::uuid)
 ORDER BY b.box_id LIMIT (SELECT $3::int8)
