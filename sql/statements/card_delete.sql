-- Marks a card as deleted: see the function delete_card. Returns one row if the card exists. The column is true if the
-- card was not deleted, because it is sealed or a message refers to it.
-- $1 text  tenant
-- $2 text  card id
SELECT d.stays FROM cardbox.delete_card($1::text, $2::text) AS d(stays) WHERE d.stays IS NOT NULL
