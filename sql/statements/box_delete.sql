-- Marks a box as deleted. The outcome is 1 if the box was deleted now or before, 3 if there is no such box, and 11 if the
-- box is sealed.
-- $1 text  tenant
-- $2 uuid  box
SELECT CASE WHEN d.is_deleted THEN 1 WHEN NOT d.is_deleted THEN 3 ELSE 11 END
  FROM cardbox.delete_box($1::text, $2::uuid) AS d(is_deleted)
