-- end_task: finishes a task, whose row the caller has locked. Appends the new messages and results to the task's box,
-- unless the box was deleted or sealed. Increments the epoch, so that later writes of the task's worker fail. Wakes the
-- parent task if the parent is unfinished, its wake_at is NULL, and its lease_epoch is not 0.
-- The parent's row is locked even if the parent is not woken. write_task() also holds this lock while it checks for
-- unfinished subtasks and puts the parent to sleep. So either the check of write_task() sees this task finished, or
-- end_task() sees the parent asleep.
CREATE OR REPLACE FUNCTION cardbox.end_task(tenant text, task text, status text, moment bigint) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    parent text;
BEGIN
    UPDATE cardbox.tasks t
       SET completion_status = status, updated_at = greatest(t.updated_at, moment), wake_at = NULL,
           lease_owner = NULL, lease_epoch = t.lease_epoch + 1
     WHERE t.tenant_id = tenant AND t.task_id = task
    RETURNING t.parent_task_id INTO parent;
    DELETE FROM cardbox.task_chunks k WHERE k.tenant_id = tenant AND k.task_id = task;
    PERFORM cardbox.fill_task_box(tenant, task, false);
    PERFORM cardbox.add_event(tenant, task, 'completed', NULL, status);
    IF parent IS NOT NULL THEN
        PERFORM FROM cardbox.tasks t
          WHERE t.tenant_id = tenant AND t.task_id = parent FOR NO KEY UPDATE;
        UPDATE cardbox.tasks t SET wake_at = clock_timestamp()
         WHERE t.tenant_id = tenant AND t.task_id = parent AND t.wake_at IS NULL
           AND t.completion_status IS NULL
           AND t.lease_epoch > 0; -- a task that an import has just inserted has the epoch 0
    END IF;
END
$$;
