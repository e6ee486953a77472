-- next_tasks: the next tasks of an export, behind the task `after` (NULL: from the beginning). Each
-- comes after its parent, so that an import needs one pass. It is the first subtask, else the next
-- sibling, else the next sibling of the nearest ancestor that has one. Times don't give that order,
-- since clients set them.
CREATE OR REPLACE FUNCTION cardbox.next_tasks(tenant text, after text, most bigint) RETURNS SETOF text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    at     text := after;
    follow text;
    parent text;
    made   bigint;
BEGIN
    FOR i IN 1 .. most LOOP
        SELECT t.task_id INTO follow FROM cardbox.tasks t
         WHERE t.tenant_id = tenant AND t.parent_task_id = at
         ORDER BY t.created_at, t.task_id LIMIT 1;
        WHILE follow IS NULL AND at IS NOT NULL LOOP
            SELECT t.parent_task_id, t.created_at INTO parent, made FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.task_id = at;
            EXIT WHEN parent IS NULL;
            SELECT t.task_id INTO follow FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.parent_task_id = parent
               AND (t.created_at, t.task_id) > (made, at)
             ORDER BY t.created_at, t.task_id LIMIT 1;
            at := CASE WHEN follow IS NULL THEN parent ELSE at END;
        END LOOP;
        IF follow IS NULL THEN
            SELECT t.task_id INTO follow FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.parent_task_id IS NULL
               AND (t.created_at, t.task_id) > (coalesce(made, -1), coalesce(at, ''))
             ORDER BY t.created_at, t.task_id LIMIT 1;
        END IF;
        EXIT WHEN follow IS NULL;
        at := follow;
        RETURN NEXT follow;
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.next_tasks TO cardbox_worker;
