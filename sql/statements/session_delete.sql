-- Deletes a session, or goes on with that: its lines, and the cards of its entries that no other session
-- has. One row if there is such a session, or something left of one: how many entries went, how many cards,
-- and whether there is more to remove.
-- $1 text tenant, $2 text session, $3 int8 how many entries at most
SELECT d.entries, d.cards, d.more FROM cardbox.delete_session($1::text, $2::text, $3::int8) AS d
 WHERE d.entries IS NOT NULL
