-- Marks a card as deleted: see the function. Returns one row if the card exists: whether it stays.
-- $1 text  tenant
-- $2 text  card id
SELECT d.stays FROM cardbox.delete_card($1::text, $2::text) AS d(stays) WHERE d.stays IS NOT NULL
