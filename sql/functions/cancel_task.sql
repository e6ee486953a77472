-- cancel_task: cancels a task, and ends its open calls as failed.
-- Outcomes: 3 the task was cancelled, 5 there is no such task, 9 the task had already finished.
CREATE OR REPLACE FUNCTION cardbox.cancel_task(tenant text, task text, reason json) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    held cardbox.tasks;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    PERFORM cardbox.lock_ending_task(tenant, task);
    SELECT * INTO held FROM cardbox.tasks t
     WHERE t.tenant_id = tenant AND t.task_id = task FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 5;
    ELSIF held.completion_status IS NOT NULL THEN
        RETURN 9;
    END IF;
    PERFORM cardbox.fail_open_calls(tenant, task, 'Task cancelled', NULL);
    UPDATE cardbox.tasks t SET cancel_reason = reason WHERE t.tenant_id = tenant AND t.task_id = task;
    PERFORM cardbox.end_task(tenant, task, 'cancelled', cardbox.now_ms());
    RETURN 3;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.cancel_task TO cardbox_worker;
ALTER FUNCTION cardbox.cancel_task OWNER TO cardbox_writer;
