-- cancel_task: cancels a task, and ends its open calls as failed. The outcomes are those of stop_task().
CREATE OR REPLACE FUNCTION cardbox.cancel_task(tenant text, task text, reason json) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    RETURN cardbox.stop_task(tenant, task, 'cancelled', 'Task cancelled', reason);
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.cancel_task TO cardbox_worker;
ALTER FUNCTION cardbox.cancel_task OWNER TO cardbox_writer;
