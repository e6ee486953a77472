-- Marks a box as deleted. Returns one row if the box exists, even if it was deleted before.
-- $1 text  tenant
-- $2 uuid  box
SELECT true WHERE cardbox.delete_box($1::text, $2::uuid)
