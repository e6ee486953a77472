-- fail_open_calls: ends the open calls of a task as failed, and returns their number. The function is called, for
-- example, when a worker claims the task and when the task ends. A call in progress may have taken effect, so it is not
-- repeated: the model decides whether to call again. Pending calls fail too, so that all open calls are treated alike.
--   error           Text for the details of the calls.
--   message_format  Text of the message that ends each call, where %s is the ability's name; NULL: no message.
--   excluded        Ids of calls that stay open.
CREATE OR REPLACE FUNCTION cardbox.fail_open_calls(
    tenant text, task text, error text, message_format text, excluded text[] DEFAULT '{}')
RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    call    record;
    message text;
    content json;
    count   integer := 0;
BEGIN
    FOR call IN
        SELECT c.call_id, c.ability_name FROM cardbox.calls c
         WHERE c.tenant_id = tenant AND c.task_id = task AND c.status IN ('pending', 'in_progress')
           AND c.call_id <> ALL (excluded)
         ORDER BY c.created_at, c.seq FOR NO KEY UPDATE
    LOOP
        message := NULL;
        IF message_format IS NOT NULL THEN
            message := gen_random_uuid()::text;
            content := format('{"__type__":"TextContent","text":%s}',
                              to_json(format(message_format, call.ability_name)))::json;
            PERFORM cardbox.save_message(
                tenant, message, task, 'assistant', content,
                jsonb_build_object('type', 'agent.thought', 'role', 'assistant', 'task_id', task,
                                   'call_id', call.call_id), NULL, NULL);
        END IF;
        UPDATE cardbox.calls c
           SET status = 'failed', updated_at = greatest(c.updated_at, cardbox.now_ms()),
               details = to_json(format('{"error":%s}', to_json(error))),
               end_message_id = coalesce(message, c.end_message_id)
         WHERE c.tenant_id = tenant AND c.call_id = call.call_id;
        PERFORM cardbox.add_event(tenant, task, 'call', call.call_id, 'failed');
        count := count + 1;
    END LOOP;
    RETURN count;
END
$$;
