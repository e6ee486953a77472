-- Soft-deletes a card. One row if there is such a card: whether it is sealed, and so stays. The row is
-- locked first: what is answered is what was found when it was this statement's turn.
-- $1 text  tenant
-- $2 text  card id
WITH target AS (
    SELECT c.sealed, c.deleted_at FROM cardbox.cards c
     WHERE c.tenant_id = $1::text AND c.card_id = $2::text
       FOR UPDATE
), deleted AS (
    UPDATE cardbox.cards c SET deleted_at = clock_timestamp() FROM target t
     WHERE c.tenant_id = $1::text AND c.card_id = $2::text AND t.deleted_at IS NULL AND NOT t.sealed
)
SELECT t.sealed AND t.deleted_at IS NULL FROM target t
