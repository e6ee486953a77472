-- Gives boxes that were imported just now the time at which they were made.
-- $1 text[] tenants, $2 uuid[] boxes, $3 timestamptz[] times
UPDATE cardbox.card_boxes b SET created_at = k.created_at
  FROM unnest($1::text[], $2::uuid[], $3::timestamptz[]) AS k(tenant_id, box_id, created_at)
 WHERE b.tenant_id = k.tenant_id COLLATE "C" AND b.box_id = k.box_id
