-- save_call: adds or updates a call. Its status only advances: from pending to in_progress to
-- completed or failed. Its messages must belong to its task. In a finished task no call can begin
-- or continue, since nobody would end it. A NULL in details or end keeps the stored value.
-- Outcomes: see save_ledger().
CREATE OR REPLACE FUNCTION cardbox.save_call(tenant text, given jsonb, parameters json, details json)
RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    order_of CONSTANT jsonb := '{"pending": 1, "in_progress": 2, "completed": 3, "failed": 3}';
    id       text := given ->> 'id';
    task     text := given ->> 'task';
    updated  bigint := coalesce((given ->> 'updated')::bigint, cardbox.now_ms());
    finished boolean;
    old      cardbox.calls;
BEGIN
    SELECT t.completion_status IS NOT NULL INTO finished FROM cardbox.tasks t
     WHERE t.tenant_id = tenant AND t.task_id = task FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 5;
    END IF;
    SELECT * INTO old FROM cardbox.calls c WHERE c.tenant_id = tenant AND c.call_id = id FOR NO KEY UPDATE;
    -- that of an old call was looked at when it was new
    IF EXISTS (SELECT FROM (VALUES (CASE WHEN old.call_id IS NULL THEN given ->> 'start' END),
                                   (given ->> 'end')) AS w(id)
                WHERE w.id IS NOT NULL
                  AND NOT EXISTS (SELECT FROM cardbox.messages m
                                   WHERE m.tenant_id = tenant AND m.message_id = w.id
                                     AND m.task_id = task)) THEN
        RETURN 6;
    END IF;
    IF old.call_id IS NULL THEN
        IF finished AND given ->> 'status' IN ('pending', 'in_progress') THEN
            RETURN 9;
        END IF;
        INSERT INTO cardbox.calls (tenant_id, call_id, task_id, ability_name, parameters, status, details,
                                   created_at, updated_at, start_message_id, end_message_id, seq)
        SELECT tenant, id, task, given ->> 'ability', save_call.parameters, given ->> 'status',
               coalesce(save_call.details, '"{}"'), coalesce((given ->> 'created')::bigint, updated),
               updated, given ->> 'start', given ->> 'end', t.events + 1
          FROM cardbox.tasks t WHERE t.tenant_id = tenant AND t.task_id = task
        ON CONFLICT DO NOTHING;
        IF FOUND THEN
            PERFORM cardbox.add_event(tenant, task, 'call', id, given ->> 'status');
            RETURN 1;
        END IF;
        RETURN 4; -- another task got it at this moment
    END IF;
    IF old.task_id <> task OR old.ability_name <> given ->> 'ability'
       OR NOT cardbox.same_json(old.parameters, save_call.parameters)
       OR old.start_message_id <> given ->> 'start'
       OR old.created_at <> coalesce((given ->> 'created')::bigint, old.created_at) THEN
        RETURN 4;
    END IF;
    IF (order_of -> (given ->> 'status'))::integer < (order_of -> old.status)::integer
       OR (old.status IN ('completed', 'failed') AND old.status <> given ->> 'status') THEN
        RETURN 7;
    END IF;
    IF old.status = given ->> 'status' AND updated <= old.updated_at
       AND coalesce(cardbox.same_json(old.details, save_call.details), true)
       AND old.end_message_id IS NOT DISTINCT FROM coalesce(given ->> 'end', old.end_message_id) THEN
        RETURN 2;
    END IF;
    IF finished AND given ->> 'status' IN ('pending', 'in_progress') THEN
        RETURN 9;
    END IF;
    UPDATE cardbox.calls c
       SET status = given ->> 'status', details = coalesce(save_call.details, c.details),
           updated_at = greatest(c.updated_at, updated),
           end_message_id = coalesce(given ->> 'end', c.end_message_id)
     WHERE c.tenant_id = tenant AND c.call_id = id;
    IF old.status <> given ->> 'status' THEN
        PERFORM cardbox.add_event(tenant, task, 'call', id, given ->> 'status');
    END IF;
    RETURN 3;
END
$$;
REVOKE ALL ON FUNCTION cardbox.save_call FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.save_call TO cardbox_service, cardbox_worker;
