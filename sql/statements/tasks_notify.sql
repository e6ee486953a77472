-- Wakes the workers that listen. Not together with what made the work: see the function.
-- $1 text[] tenants
SELECT cardbox.notify_workers($1::text[])
