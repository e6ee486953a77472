-- Soft-deletes a box. One row if there is such a box, deleted already or not.
-- $1 text  tenant
-- $2 uuid  box
UPDATE cardbox.card_boxes b
   SET deleted_at = coalesce(b.deleted_at, clock_timestamp())
 WHERE b.tenant_id = $1::text AND b.box_id = $2::uuid
RETURNING true
