-- Who ends a task locks its parent too, which it wakes: both at first, and in the order in which all do that lock
-- more than one task. The task alone, and its parent behind it, was the other way round as often as not, and one of two
-- had to begin anew. (Claiming stays as it is: what it ends are tasks that no worker got done.)
CREATE FUNCTION cardbox.lock_ending_task(tenant text, task text) RETURNS void
LANGUAGE sql AS $$
    SELECT cardbox.lock_tasks(tenant, ARRAY[task, (SELECT t.parent_task_id FROM cardbox.tasks t
                                                    WHERE t.tenant_id = tenant AND t.task_id = task)])
$$;
REVOKE EXECUTE ON FUNCTION cardbox.lock_ending_task FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.lock_ending_task TO cardbox_service, cardbox_worker;

CREATE OR REPLACE FUNCTION cardbox.cancel_task(tenant text, task text, reason json) RETURNS integer
LANGUAGE plpgsql AS $$
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
    PERFORM cardbox.fail_open_calls(tenant, task, 'Task cancelled', NULL);
    UPDATE cardbox.tasks t SET cancel_reason = reason WHERE t.tenant_id = tenant AND t.task_id = task;
    PERFORM cardbox.end_task(tenant, task, 'cancelled', cardbox.now_ms());
    RETURN 3;
END
$$;

CREATE OR REPLACE FUNCTION cardbox.write_task(
    tenant text, task text, epoch bigint, messages jsonb, contents json[], projections jsonb[], calls jsonb,
    parameters json[], details json[], ending integer, end_status text, seen bigint, awaits boolean,
    sleep_until timestamptz)
RETURNS TABLE (kind integer, ord integer, outcome integer)
LANGUAGE plpgsql AS $$
DECLARE
    held cardbox.tasks;
    bad  boolean := false;
    last integer := 3;
BEGIN
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
          FROM cardbox.save_ledger(tenant, '[]', NULL, write_task.messages, contents, projections,
                                   write_task.calls, parameters, details) AS s
    LOOP
        bad := bad OR outcome > 3;
        RETURN NEXT;
    END LOOP;
    IF bad OR ending = 0 THEN
        RETURN;
    END IF;
    IF seen IS NOT NULL AND ending IN (1, 2) AND EXISTS (
            SELECT FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.task_id = task AND t.last_user > seen) THEN
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
        last := 11;
    END IF;
    RETURN QUERY SELECT 0, 0, last;
END
$$;
