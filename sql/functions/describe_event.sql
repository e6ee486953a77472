-- describe_event: part of follow_tasks(): what a follower is sent for an event: the message or the call that it names too.
-- Details of a call are sent with the event of its present status only.
CREATE OR REPLACE FUNCTION cardbox.describe_event(follower bigint, event cardbox.task_events) RETURNS cardbox.task_seen
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    e cardbox.task_seen := (follower, event.n, event.what, event.ref, event.how, event.at, NULL, NULL, NULL);
BEGIN
    IF e.what = 'message' THEN
        SELECT m.ts, c.content, c.metadata INTO e.at, e.text, e.metadata
          FROM cardbox.messages m
          JOIN cardbox.cards c ON c.tenant_id = event.tenant_id AND c.card_id = m.message_id
         WHERE m.tenant_id = event.tenant_id AND m.message_id = event.ref;
    ELSIF e.what = 'call' THEN
        SELECT json_build_object('abilityName', c.ability_name, 'parameters', c.parameters, 'details',
                                 CASE WHEN c.status = event.how THEN c.details ELSE '"{}"' END)
          INTO e.call FROM cardbox.calls c
         WHERE c.tenant_id = event.tenant_id AND c.call_id = event.ref;
    ELSIF e.what = 'completed' AND e.how = 'cancelled' THEN
        SELECT t.cancel_reason INTO e.text FROM cardbox.tasks t
         WHERE t.tenant_id = event.tenant_id AND t.task_id = event.task_id;
    END IF;
    RETURN e;
END
$$;
REVOKE ALL ON FUNCTION cardbox.describe_event FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.describe_event TO cardbox_service, cardbox_worker;
