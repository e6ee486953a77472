-- give_up_task: finishes one task as failed whose `attempts` have reached max_attempts, and returns it with the outcome
-- 12. Returns no row if there is none. Part of claim_tasks(), which calls it before it locks tasks. The function locks the
-- task and its parent, which end_task() may wake, and does not wait for either. But the end of the task waits for the
-- locks of its open calls and of its box.
--   tenants  The tenants whose oldest due tasks are examined.
CREATE OR REPLACE FUNCTION cardbox.give_up_task(
    tenants text[], moment timestamptz, owner text, max_attempts integer, take_over boolean)
RETURNS SETOF cardbox.claimed_task
LANGUAGE plpgsql
AS $$
DECLARE
    one    record;
    task   cardbox.tasks;
    misses integer := 0;
BEGIN
    FOR one IN
        SELECT d.tenant_id, d.task_id, d.parent_task_id
          FROM unnest(tenants) AS n(id)
         CROSS JOIN LATERAL (
               (SELECT t.* FROM cardbox.tasks t
                 WHERE t.tenant_id = n.id AND t.wake_at <= moment
                 ORDER BY t.wake_at LIMIT 100)
                UNION ALL
               (SELECT t.* FROM cardbox.tasks t
                 WHERE take_over AND t.tenant_id = n.id AND t.lease_owner = owner AND t.wake_at > moment
                 LIMIT 100)) AS d
         WHERE d.attempts >= max_attempts
    LOOP
        -- The parent first: if it is locked, no lock of a task that stays unfinished is kept until the commit.
        PERFORM FROM cardbox.tasks t
          WHERE t.tenant_id = one.tenant_id AND t.task_id = one.parent_task_id FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND AND one.parent_task_id IS NOT NULL;
        SELECT * INTO task FROM cardbox.tasks t
         WHERE t.tenant_id = one.tenant_id AND t.task_id = one.task_id AND t.attempts >= max_attempts
           AND (t.wake_at <= moment OR (take_over AND t.lease_owner = owner))
           FOR NO KEY UPDATE SKIP LOCKED;
        IF FOUND THEN
            RETURN NEXT cardbox.assign_task(task, owner, 0, max_attempts);
            RETURN;
        END IF;
        misses := misses + 1;
        EXIT WHEN misses = 3; -- each miss keeps the lock of a parent
    END LOOP;
END
$$;
