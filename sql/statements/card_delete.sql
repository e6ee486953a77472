-- Soft-deletes a card. One row if there is such a card: whether it is sealed.
-- $1 text  tenant
-- $2 text  card id
WITH target AS (
    SELECT c.sealed, c.deleted_at FROM cardbox.cards c WHERE c.tenant_id = $1::text AND c.card_id = $2::text
), deleted AS (
    UPDATE cardbox.cards c SET deleted_at = clock_timestamp()
     WHERE c.tenant_id = $1::text AND c.card_id = $2::text AND c.deleted_at IS NULL AND NOT c.sealed
)
SELECT t.sealed AND t.deleted_at IS NULL FROM target t
