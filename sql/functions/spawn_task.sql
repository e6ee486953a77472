-- spawn_task: creates a task with its first messages. The new task is due at once. Outcomes:
--   1  The task was created.
--   2  The task already exists, and has a message with the id of the first given message.
--   4  The task already exists, and does not have the first given message.
--   5  The parent task does not exist.
CREATE OR REPLACE FUNCTION cardbox.spawn_task(
    tenant text, task text, parent text, prompt json, messages jsonb, contents json[])
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment bigint := cardbox.now_ms();
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    IF parent IS NOT NULL AND NOT EXISTS (SELECT FROM cardbox.tasks t
                                           WHERE t.tenant_id = tenant AND t.task_id = parent) THEN
        RETURN 5;
    END IF;
    INSERT INTO cardbox.tasks (tenant_id, task_id, parent_task_id, system_prompt, created_at, updated_at,
                               wake_at)
    VALUES (tenant, task, parent, prompt, moment, moment, clock_timestamp())
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (
                SELECT FROM cardbox.messages m
                 WHERE m.tenant_id = tenant AND m.message_id = spawn_task.messages -> 0 ->> 'id'
                   AND m.task_id = task) THEN 2 ELSE 4 END;
    END IF;
    PERFORM cardbox.add_event(tenant, task, 'created', parent, NULL);
    FOR i IN 1 .. jsonb_array_length(spawn_task.messages) LOOP
        IF cardbox.save_message(
                tenant, spawn_task.messages -> i - 1 ->> 'id', task,
                spawn_task.messages -> i - 1 ->> 'role', contents[i],
                spawn_task.messages -> i - 1 -> 'metadata', NULL, moment) <> 1 THEN
            RAISE EXCEPTION 'a message of the new task has an id that is taken'
                USING ERRCODE = 'unique_violation';
        END IF;
    END LOOP;
    RETURN 1;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.spawn_task TO cardbox_worker;
ALTER FUNCTION cardbox.spawn_task OWNER TO cardbox_writer;
