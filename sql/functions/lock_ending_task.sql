-- lock_ending_task: locks a task that is about to end, and its parent, which end_task() may wake. The function
-- lock_tasks() determines the order of the two locks.
CREATE OR REPLACE FUNCTION cardbox.lock_ending_task(tenant text, task text) RETURNS void
LANGUAGE sql
AS $$
    SELECT cardbox.lock_tasks(tenant, ARRAY[task, (SELECT t.parent_task_id FROM cardbox.tasks t
                                                    WHERE t.tenant_id = tenant AND t.task_id = task)])
$$;
