-- notify_workers: notifies the workers that wait for tasks of these tenants. Programs call the function in a separate
-- transaction, once for many changes: a transaction that notifies acquires a lock of the whole cluster at its commit.
CREATE OR REPLACE FUNCTION cardbox.notify_workers(tenants text[]) RETURNS void
LANGUAGE sql VOLATILE
AS $$
    SELECT pg_notify(c.channel, '') FROM cardbox.task_channels c WHERE c.tenant_id = ANY (tenants)
$$;
GRANT EXECUTE ON FUNCTION cardbox.notify_workers TO cardbox_worker;
