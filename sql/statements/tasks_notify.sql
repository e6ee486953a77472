-- Notifies workers that wait for tasks: see the function notify_workers. Programs send this statement after the commit
-- of the changes to the tasks, not in the same transaction.
-- $1 text[]  tenants
SELECT cardbox.notify_workers($1::text[])
