-- Listens for work on this connection: see the function.
-- $1 text[] tenants; NULL: all that the role may serve
SELECT cardbox.listen_for_tasks($1::text[])
