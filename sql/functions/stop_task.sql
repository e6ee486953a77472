-- stop_task: ends an unfinished task, whether or not a worker holds it, and ends its open calls as failed.
--   error   Text for the details of the calls.
--   reason  Reason of a cancellation; NULL: none.
--
-- Outcomes: 3 the task was ended, 5 there is no such task, 9 the task had already finished.
CREATE OR REPLACE FUNCTION cardbox.stop_task(tenant text, task text, status text, error text, reason json) RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    held cardbox.tasks;
BEGIN
    PERFORM cardbox.lock_ending_task(tenant, task);
    SELECT * INTO held FROM cardbox.tasks t
     WHERE t.tenant_id = tenant AND t.task_id = task FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 5;
    ELSIF held.completion_status IS NOT NULL THEN
        RETURN 9;
    END IF;
    PERFORM cardbox.fail_open_calls(tenant, task, error, NULL);
    UPDATE cardbox.tasks t SET cancel_reason = reason WHERE t.tenant_id = tenant AND t.task_id = task;
    PERFORM cardbox.end_task(tenant, task, status, cardbox.now_ms());
    RETURN 3;
END
$$;
