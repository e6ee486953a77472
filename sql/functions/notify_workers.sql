-- notify_workers: notifies the workers that wait for tasks of these tenants. It is a statement of its own, sent once
-- for many changes: a transaction that notifies acquires a lock of the whole cluster when it commits.
CREATE OR REPLACE FUNCTION cardbox.notify_workers(tenants text[]) RETURNS void
LANGUAGE sql VOLATILE
AS $$
    SELECT pg_notify(c.channel, '') FROM cardbox.task_channels c WHERE c.tenant_id = ANY (tenants)
$$;
GRANT EXECUTE ON FUNCTION cardbox.notify_workers TO cardbox_worker;
