-- assign_task: assigns a task to a worker. Part of claim_tasks(), which has locked the task's row. Outcomes: 1 the task
-- was claimed; 12 the task was finished as failed, because its `attempts` had reached max_attempts. For outcome
-- 12, the caller must also have locked the parent's row.
CREATE OR REPLACE FUNCTION cardbox.assign_task(
    task cardbox.tasks, owner text, lease_ms bigint, max_attempts integer)
RETURNS cardbox.claimed_task
LANGUAGE plpgsql
AS $$
DECLARE
    claimed cardbox.claimed_task;
BEGIN
    claimed := (task.tenant_id, task.task_id, task.lease_epoch + 1, task.attempts + 1, 1, 0,
                task.parent_task_id);
    claimed.failed_calls := cardbox.fail_open_calls(
        task.tenant_id, task.task_id, 'Process crashed during execution', '%s failed due to process crash');
    IF task.attempts >= max_attempts THEN
        claimed.outcome := 12;
        PERFORM cardbox.end_task(
            task.tenant_id, task.task_id,
            format('failed: No worker finished a turn of it in %s attempts', task.attempts),
            cardbox.now_ms());
        RETURN claimed;
    END IF;
    UPDATE cardbox.tasks t
       SET lease_owner = owner, lease_epoch = claimed.epoch, attempts = claimed.attempts,
           wake_at = clock_timestamp() + lease_ms * interval '1 millisecond'
     WHERE t.tenant_id = task.tenant_id AND t.task_id = task.task_id;
    DELETE FROM cardbox.task_chunks k WHERE k.tenant_id = task.tenant_id AND k.task_id = task.task_id;
    PERFORM cardbox.add_event(task.tenant_id, task.task_id, 'claimed', NULL, owner);
    RETURN claimed;
END
$$;
