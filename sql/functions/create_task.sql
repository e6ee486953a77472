-- create_task: creates a task with its first messages, and its box unless the given box exists. The new task is due at
-- once.
--   given  {"parent"?, "box"?, "context"?, "router"?}: id of the parent task, ids of the task's box and of its context
--          box, and whether the task is a router. Without "box", the task gets a box when it next runs.
--
-- Outcomes:
--   1   The task was created.
--   2   The task already exists, and has a message with the id of the first given message.
--   4   The task already exists, and does not have the first given message.
--   5   The parent task does not exist.
--   13  The given box was deleted.
--   14  The context box does not exist.
--   15  The given box is sealed.
CREATE OR REPLACE FUNCTION cardbox.create_task(
    tenant text, task text, given jsonb, prompt json, messages jsonb, contents json[])
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment  bigint := cardbox.now_ms();
    parent  text := given ->> 'parent';
    box     uuid := given ->> 'box';
    context uuid := given ->> 'context';
    refusal integer;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    PERFORM cardbox.check_id('task_id', task, 512);
    IF jsonb_typeof(messages) IS DISTINCT FROM 'array' OR cardinality(contents) IS NULL OR cardinality(contents) = 0
       OR cardinality(contents) <> jsonb_array_length(messages) THEN
        RAISE EXCEPTION 'a new task needs messages, each with a content' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM cardbox.check_id('the id of a message', m.value ->> 'id', 512)
       FROM jsonb_array_elements(messages) AS m;
    IF parent IS NOT NULL AND NOT EXISTS (SELECT FROM cardbox.tasks t
                                           WHERE t.tenant_id = tenant AND t.task_id = parent) THEN
        RETURN 5;
    END IF;
    SELECT CASE WHEN b.deleted_at IS NOT NULL THEN 13 WHEN b.sealed THEN 15 END INTO refusal
      FROM cardbox.card_boxes b WHERE b.tenant_id = tenant AND b.box_id = box;
    IF refusal IS NOT NULL THEN
        RETURN refusal;
    ELSIF context IS NOT NULL AND NOT EXISTS (
            SELECT FROM cardbox.card_boxes b
             WHERE b.tenant_id = tenant AND b.box_id = context AND b.deleted_at IS NULL) THEN
        RETURN 14;
    END IF;
    INSERT INTO cardbox.tasks (tenant_id, task_id, parent_task_id, system_prompt, created_at, updated_at,
                               wake_at, box_id, context_box_id, router)
    VALUES (tenant, task, parent, prompt, moment, moment, clock_timestamp(), box, context,
            coalesce((given ->> 'router')::boolean, false))
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (
                SELECT FROM cardbox.messages m
                 WHERE m.tenant_id = tenant AND m.message_id = create_task.messages -> 0 ->> 'id'
                   AND m.task_id = task) THEN 2 ELSE 4 END;
    END IF;
    IF box IS NOT NULL THEN
        PERFORM cardbox.create_box(tenant, box, '[]', '[]', NULL, true);
    END IF;
    PERFORM cardbox.add_event(tenant, task, 'created', parent, NULL);
    FOR i IN 1 .. jsonb_array_length(create_task.messages) LOOP
        IF cardbox.save_message(
                tenant, create_task.messages -> i - 1 ->> 'id', task,
                create_task.messages -> i - 1 ->> 'role', contents[i],
                create_task.messages -> i - 1 -> 'metadata', NULL, moment) <> 1 THEN
            RAISE EXCEPTION 'a message of the new task has an id that is taken'
                USING ERRCODE = 'unique_violation';
        END IF;
    END LOOP;
    RETURN 1;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.create_task TO cardbox_worker;
ALTER FUNCTION cardbox.create_task OWNER TO cardbox_writer;
