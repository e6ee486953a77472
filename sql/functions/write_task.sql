-- write_task: writes the messages and calls of a worker that holds a task, and may end the lease. The format of
-- messages and calls is that of save_ledger().
--   ending       0 the lease continues, 1 the task is finished with end_status, 2 the task sleeps, 3 the task is
--                released for any worker.
--   sleep_until  Time at which a sleeping task becomes due; NULL: the task sleeps until send_to_task() or the end of a
--                subtask wakes it.
--   last_read    Event number of the last message that the worker has read; NULL: not checked. If a message of role
--                user is newer, the task is not finished and not put to sleep.
--   awaits       Whether a task that would finish, but has unfinished subtasks, sleeps instead. The end of a subtask
--                then wakes the sleeping task.
--
-- If the task is finished or sleeps, the cards of its messages and results are appended to its box. Otherwise
-- begin_turn() does that.
--
-- Returns the rows of save_ledger(). If one of these has a failure, nothing is written and the lease continues. If the
-- lease is lost, or if nothing failed and `ending` is not 0, a row of kind 0 follows with one of these outcomes:
--   3   This call has finished the task.
--   8   The lease is lost, and nothing was written.
--   10  The lease continues, because a message of role user is newer than last_read.
--   11  This call has put the task to sleep, or released it.
CREATE OR REPLACE FUNCTION cardbox.write_task(
    tenant text, task text, epoch bigint, messages jsonb, contents json[], calls jsonb,
    parameters json[], details json[], ending integer, end_status text, last_read bigint, awaits boolean,
    sleep_until timestamptz)
RETURNS TABLE (kind integer, ord integer, outcome integer)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    held cardbox.tasks;
    bad  boolean := false;
    last integer := 3;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    IF ending IS NULL OR ending NOT BETWEEN 0 AND 3 THEN
        RAISE EXCEPTION 'an ending must be 0 to 3' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF ending = 1 THEN
        PERFORM cardbox.lock_ending_task(tenant, task);
    END IF;
    SELECT * INTO held FROM cardbox.tasks t
     WHERE t.tenant_id = tenant AND t.task_id = task FOR NO KEY UPDATE;
    IF held.lease_epoch IS DISTINCT FROM epoch OR held.lease_owner IS NULL THEN
        RETURN QUERY SELECT 0, 0, 8;
        RETURN;
    END IF;
    FOR kind, ord, outcome IN
        SELECT s.kind, s.ord, s.outcome
          FROM cardbox.save_ledger(tenant, '[]', NULL, write_task.messages, contents,
                                   write_task.calls, parameters, details) AS s
    LOOP
        bad := bad OR outcome > 3;
        RETURN NEXT;
    END LOOP;
    IF bad OR ending = 0 THEN
        RETURN;
    END IF;
    IF last_read IS NOT NULL AND ending IN (1, 2) AND EXISTS (
            SELECT FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.task_id = task AND t.last_user > last_read) THEN
        RETURN QUERY SELECT 0, 0, 10;
        RETURN;
    END IF;
    IF ending = 1 AND awaits AND EXISTS (
            SELECT FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.parent_task_id = task AND t.completion_status IS NULL) THEN
        ending := 2;
        sleep_until := NULL;
    END IF;
    IF ending = 1 THEN
        PERFORM cardbox.fail_open_calls(tenant, task, 'Task ended', NULL);
        PERFORM cardbox.end_task(tenant, task, end_status, cardbox.now_ms());
    ELSE
        UPDATE cardbox.tasks t
           SET lease_owner = NULL, lease_epoch = t.lease_epoch + 1,
               wake_at = CASE WHEN ending = 2 THEN sleep_until ELSE clock_timestamp() END,
               attempts = CASE WHEN ending = 2 THEN 0 ELSE greatest(t.attempts - 1, 0) END
         WHERE t.tenant_id = tenant AND t.task_id = task;
        DELETE FROM cardbox.task_chunks k WHERE k.tenant_id = tenant AND k.task_id = task;
        IF ending = 2 THEN
            PERFORM cardbox.fill_task_box(tenant, task, false);
        END IF;
        last := 11;
    END IF;
    RETURN QUERY SELECT 0, 0, last;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.write_task TO cardbox_worker;
ALTER FUNCTION cardbox.write_task OWNER TO cardbox_writer;
