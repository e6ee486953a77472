-- next_tasks: returns the next tasks of an export after the task `after`; NULL: from the beginning. Each task comes
-- after its parent, so that an import needs one pass. The order is depth first: after a task comes its first subtask.
-- If a task has no subtask, its next sibling follows, or the next sibling of its nearest ancestor that has one. Tasks
-- without a parent count as siblings. The order of created_at does not suffice, because clients can set these times.
CREATE OR REPLACE FUNCTION cardbox.next_tasks(tenant text, after text, max_tasks bigint) RETURNS SETOF text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    task      text := after;
    next_task text;
    parent    text;
    made      bigint;
BEGIN
    FOR i IN 1 .. max_tasks LOOP
        SELECT t.task_id INTO next_task FROM cardbox.tasks t
         WHERE t.tenant_id = tenant AND t.parent_task_id = task
         ORDER BY t.created_at, t.task_id LIMIT 1;
        WHILE next_task IS NULL AND task IS NOT NULL LOOP
            SELECT t.parent_task_id, t.created_at INTO parent, made FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.task_id = task;
            EXIT WHEN parent IS NULL;
            SELECT t.task_id INTO next_task FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.parent_task_id = parent
               AND (t.created_at, t.task_id) > (made, task)
             ORDER BY t.created_at, t.task_id LIMIT 1;
            task := CASE WHEN next_task IS NULL THEN parent ELSE task END;
        END LOOP;
        IF next_task IS NULL THEN
            SELECT t.task_id INTO next_task FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.parent_task_id IS NULL
               AND (t.created_at, t.task_id) > (coalesce(made, -1), coalesce(task, ''))
             ORDER BY t.created_at, t.task_id LIMIT 1;
        END IF;
        EXIT WHEN next_task IS NULL;
        task := next_task;
        RETURN NEXT next_task;
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.next_tasks TO cardbox_worker;
