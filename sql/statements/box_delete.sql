-- Marks a box as deleted. One row if there is such a box, deleted already or not.
-- $1 text  tenant
-- $2 uuid  box
SELECT true WHERE cardbox.delete_box($1::text, $2::uuid)
