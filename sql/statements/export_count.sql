-- How many lines an export of a tenant has.
-- $1 text  tenant
SELECT (SELECT count(*) FROM cardbox.cards c WHERE c.tenant_id = $1::text)
     + (SELECT count(*) FROM cardbox.card_boxes b
         WHERE b.tenant_id = $1::text AND b.deleted_at IS NULL)
