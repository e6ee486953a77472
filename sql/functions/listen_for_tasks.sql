-- listen_for_tasks: runs LISTEN for the notification channels of these tenants, and returns the number of channels. If
-- `tenants` is NULL, listens to all channels that the role sees. Creates missing channels of the tenants, or of
-- served_tenants() if `tenants` is NULL.
CREATE OR REPLACE FUNCTION cardbox.listen_for_tasks(tenants text[]) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    name  text;
    count bigint := 0;
BEGIN
    PERFORM cardbox.make_task_channels(coalesce(tenants, cardbox.served_tenants()));
    FOR name IN SELECT c.channel FROM cardbox.task_channels c
                 WHERE tenants IS NULL OR c.tenant_id = ANY (tenants) LOOP
        EXECUTE format('LISTEN %I', name);
        count := count + 1;
    END LOOP;
    RETURN count;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.listen_for_tasks TO cardbox_worker;
