-- end_task: ends a task whose row the caller has locked. No worker holds it any more: writes with
-- an old epoch fail. A parent that sleeps is woken. Its row is locked whether it sleeps or not: a
-- parent that is about to sleep examines its subtasks with its row locked, so it either sees this
-- one finished or sleeps before this looks.
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
    PERFORM cardbox.add_event(tenant, task, 'completed', NULL, status);
    IF parent IS NOT NULL THEN
        PERFORM FROM cardbox.tasks t
          WHERE t.tenant_id = tenant AND t.task_id = parent FOR NO KEY UPDATE;
        UPDATE cardbox.tasks t SET wake_at = clock_timestamp()
         WHERE t.tenant_id = tenant AND t.task_id = parent AND t.wake_at IS NULL
           AND t.completion_status IS NULL
           -- not one that was only written down here, and that nobody has ever run
           AND t.lease_epoch > 0;
    END IF;
END
$$;
