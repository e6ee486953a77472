-- Deletes a session: its lines, and the cards of its entries that no other session has. One row if there is
-- such a session: how many entries it had, how many cards went.
-- $1 text tenant, $2 text session
SELECT d.entries, d.cards FROM cardbox.delete_session($1::text, $2::text) AS d WHERE d.entries IS NOT NULL
