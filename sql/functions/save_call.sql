-- save_call: inserts or updates a call. The status of a call can only advance: from pending to in_progress, and from
-- either to completed or failed. The start and end messages must belong to the call's task. In a finished task no call
-- can be opened, because nothing would end it. If the details or the end message is NULL, the stored value stays. The
-- outcomes are those of save_ledger().
--
-- test_costs.py test_costs: PostgreSQL 16 and later would join all messages of a project that has few. A range can't be hashed.
CREATE OR REPLACE FUNCTION cardbox.save_call(tenant text, given jsonb, parameters json, details json)
RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    order_of   CONSTANT jsonb := '{"pending": 1, "in_progress": 2, "completed": 3, "failed": 3}';
    id         CONSTANT text := given ->> 'id';
    task       CONSTANT text := given ->> 'task';
    new_status CONSTANT text := given ->> 'status';
    is_open    CONSTANT boolean := new_status IN ('pending', 'in_progress');
    created    CONSTANT bigint := given ->> 'created';
    updated    CONSTANT bigint := coalesce((given ->> 'updated')::bigint, cardbox.now_ms());
    at_task    cardbox.tasks;
    old        cardbox.calls;
BEGIN
    SELECT * INTO at_task FROM cardbox.tasks t
     WHERE t.tenant_id = tenant AND t.task_id = task FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 5;
    END IF;
    -- The lock of its task protects a call. A call of another task is not locked: that could be a deadlock.
    SELECT * INTO old FROM cardbox.calls c WHERE c.tenant_id = tenant AND c.call_id = id;
    -- The start message of a stored call was checked when the call was inserted.
    IF EXISTS (SELECT FROM unnest(ARRAY[CASE WHEN old.call_id IS NULL THEN given ->> 'start' END, given ->> 'end']) AS w(id)
                WHERE w.id IS NOT NULL
                  AND NOT EXISTS (SELECT FROM cardbox.messages m
                                   WHERE m.tenant_id = tenant AND m.message_id BETWEEN w.id AND w.id AND m.task_id = task)) THEN
        RETURN 6;
    END IF;
    IF old.call_id IS NULL THEN
        IF is_open AND at_task.completion_status IS NOT NULL THEN
            RETURN 9;
        END IF;
        INSERT INTO cardbox.calls (tenant_id, call_id, task_id, ability_name, parameters, status, details,
                                   created_at, updated_at, start_message_id, end_message_id, seq)
        VALUES (tenant, id, task, given ->> 'ability', save_call.parameters, new_status,
                coalesce(save_call.details, '"{}"'), coalesce(created, updated), updated,
                given ->> 'start', given ->> 'end', at_task.events + 1)
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            RETURN 4; -- another transaction has inserted a call with this id
        END IF;
        PERFORM cardbox.add_event(tenant, task, 'call', id, new_status);
        RETURN 1;
    END IF;
    IF old.task_id <> task OR old.ability_name <> given ->> 'ability' OR old.start_message_id <> given ->> 'start'
       OR old.created_at <> created OR NOT cardbox.same_json(old.parameters, save_call.parameters) THEN
        RETURN 4;
    ELSIF order_of -> new_status < order_of -> old.status
          OR (old.status IN ('completed', 'failed') AND old.status <> new_status) THEN
        RETURN 7;
    ELSIF old.status = new_status AND updated <= old.updated_at
       AND coalesce(cardbox.same_json(old.details, save_call.details), true)
       AND old.end_message_id IS NOT DISTINCT FROM coalesce(given ->> 'end', old.end_message_id) THEN
        RETURN 2;
    ELSIF is_open AND at_task.completion_status IS NOT NULL THEN
        RETURN 9;
    END IF;
    UPDATE cardbox.calls c
       SET status = new_status, details = coalesce(save_call.details, c.details),
           updated_at = greatest(c.updated_at, updated), end_message_id = coalesce(given ->> 'end', c.end_message_id)
     WHERE c.tenant_id = tenant AND c.call_id = id;
    IF old.status <> new_status THEN
        PERFORM cardbox.add_event(tenant, task, 'call', id, new_status);
    END IF;
    RETURN 3;
END
$$;
