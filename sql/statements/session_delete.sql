-- Deletes a part of a session. Returns one row if the session exists: the number of removed entries, and whether there
-- are more to remove.
-- $1 text  tenant
-- $2 text  session
-- $3 int8  maximum number of lines
SELECT d.entries, d.more FROM cardbox.delete_session($1::text, $2::text, $3::int8) AS d
 WHERE d.entries IS NOT NULL
