-- save_task: inserts a task, or updates its status and time. A finished task is reopened or gets another status only if
-- the given update time is later than the stored one. A cancelled task can be reopened, but can't be changed to another
-- status of a finished task. The box, the context box and `router` are those of the insert; NULL: not given. The
-- outcomes are those of save_ledger().
CREATE OR REPLACE FUNCTION cardbox.save_task(tenant text, given jsonb, prompt json) RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    id      text := given ->> 'id';
    parent  text := given ->> 'parent';
    status  text := given ->> 'status';
    created bigint := (given ->> 'created')::bigint;
    updated bigint := (given ->> 'updated')::bigint;
    box     uuid := given ->> 'box';
    context uuid := given ->> 'context';
    router  boolean := given ->> 'router';
    old     cardbox.tasks;
BEGIN
    IF parent IS NOT NULL AND NOT EXISTS (SELECT FROM cardbox.tasks t
                                           WHERE t.tenant_id = tenant AND t.task_id = parent) THEN
        RETURN 5;
    END IF;
    INSERT INTO cardbox.tasks (tenant_id, task_id, parent_task_id, completion_status, system_prompt,
                               created_at, updated_at, box_id, context_box_id, router)
    VALUES (tenant, id, parent, status, prompt, created, updated, box, context, coalesce(router, false))
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        IF box IS NOT NULL THEN
            PERFORM cardbox.create_box(tenant, box, '[]', '[]', NULL, true);
        END IF;
        PERFORM cardbox.add_event(tenant, id, 'created', parent, NULL);
        IF status IS NOT NULL THEN
            PERFORM cardbox.add_event(tenant, id, 'completed', NULL, status);
        END IF;
        RETURN 1;
    END IF;
    SELECT * INTO old FROM cardbox.tasks t WHERE t.tenant_id = tenant AND t.task_id = id FOR NO KEY UPDATE;
    IF old.parent_task_id IS DISTINCT FROM parent OR old.created_at <> created
       OR NOT cardbox.same_json(old.system_prompt, prompt)
       OR coalesce(old.box_id <> box, box IS NOT NULL) OR coalesce(old.context_box_id <> context, context IS NOT NULL)
       OR old.router <> router THEN
        RETURN 4;
    END IF;
    IF old.completion_status IS NOT DISTINCT FROM status THEN
        IF updated <= old.updated_at THEN
            RETURN 2;
        END IF;
        UPDATE cardbox.tasks t SET updated_at = updated WHERE t.tenant_id = tenant AND t.task_id = id;
    ELSIF old.completion_status IS NULL THEN
        PERFORM cardbox.end_task(tenant, id, status, updated);
    ELSIF updated <= old.updated_at OR (old.completion_status = 'cancelled' AND status IS NOT NULL) THEN
        RETURN 7;
    ELSE
        UPDATE cardbox.tasks t SET completion_status = status, updated_at = updated, cancel_reason = NULL
         WHERE t.tenant_id = tenant AND t.task_id = id;
        PERFORM cardbox.add_event(tenant, id, CASE WHEN status IS NULL THEN 'reopened' ELSE 'completed' END,
                                  NULL, status);
    END IF;
    RETURN 3;
END
$$;
