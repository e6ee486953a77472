-- lock_ending_task: locks a task that is to end, and its parent, which is woken then, in the order
-- of lock_tasks().
CREATE OR REPLACE FUNCTION cardbox.lock_ending_task(tenant text, task text) RETURNS void
LANGUAGE sql
AS $$
    SELECT cardbox.lock_tasks(tenant, ARRAY[task, (SELECT t.parent_task_id FROM cardbox.tasks t
                                                    WHERE t.tenant_id = tenant AND t.task_id = task)])
$$;
