-- Deletes a part of a session: see the function delete_session. If there was something to delete, returns one row: the
-- number of removed entries, and whether the statement must be repeated.
-- $1 text  tenant
-- $2 text  session
-- $3 int8  maximum number of lines to delete
-- $4 bool  whether the caller has already deleted a part of the session
SELECT d.entries, d.more FROM cardbox.delete_session($1::text, $2::text, $3::int8, $4::bool) AS d
 WHERE d.entries IS NOT NULL
