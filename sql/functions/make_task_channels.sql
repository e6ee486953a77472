-- make_task_channels: creates a notification channel for each of these tenants that does not have one.
CREATE OR REPLACE FUNCTION cardbox.make_task_channels(tenants text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(tenants);
    END IF;
    INSERT INTO cardbox.task_channels (tenant_id) SELECT DISTINCT unnest(tenants) ON CONFLICT DO NOTHING;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.make_task_channels TO cardbox_worker;
ALTER FUNCTION cardbox.make_task_channels OWNER TO cardbox_writer;
