-- Soft-deletes a card. One row if there is such a card: whether it stays, being sealed or in use. The row is
-- locked first: what is answered is what was found when it was this statement's turn.
-- $1 text  tenant
-- $2 text  card id
WITH target AS (
    SELECT c.sealed OR cardbox.card_is_used($1::text, $2::text) AS stays, c.deleted_at FROM cardbox.cards c
     WHERE c.tenant_id = $1::text AND c.card_id = $2::text
       FOR UPDATE
), deleted AS (
    UPDATE cardbox.cards c SET deleted_at = clock_timestamp() FROM target t
     WHERE c.tenant_id = $1::text AND c.card_id = $2::text AND t.deleted_at IS NULL AND NOT t.stays
)
SELECT t.stays AND t.deleted_at IS NULL FROM target t
