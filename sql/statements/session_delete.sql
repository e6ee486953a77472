-- Deletes a part of a session. One row if there is such a session: how many entries were removed, and
-- whether there is more to remove.
-- $1 text tenant, $2 text session, $3 int8 how many lines at most
SELECT d.entries, d.more FROM cardbox.delete_session($1::text, $2::text, $3::int8) AS d
 WHERE d.entries IS NOT NULL
