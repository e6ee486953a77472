-- spawn_task: creates a task as create_task() does, without a box. Programs of earlier releases call spawn_task().
CREATE OR REPLACE FUNCTION cardbox.spawn_task(
    tenant text, task text, parent text, prompt json, messages jsonb, contents json[])
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    RETURN cardbox.create_task(tenant, task, jsonb_build_object('parent', parent), prompt, messages, contents);
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.spawn_task TO cardbox_worker;
ALTER FUNCTION cardbox.spawn_task OWNER TO cardbox_writer;
