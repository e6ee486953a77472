-- Notifies waiting workers: see the function. It is sent after the commit of the tasks, not in their transaction.
-- $1 text[]  tenants
SELECT cardbox.notify_workers($1::text[])
