-- task_cards: returns the cards for a task's box from the events after the event after_event. These are the messages,
-- except the start and end messages of calls, and the results of calls that have ended. If none of the messages lists
-- such a call, as in a ledger from other programs, a card of the call comes before its result. If after_event is 0, and
-- no message has the role system, a card of the system prompt is first.
--   kind    2 a user's message; 1 a message with tool calls, or a card of a call; 0 another message.
--   number  The order: by kind, because the model has to answer the last card, then by event. If after_event is 0, the
--           events are a whole conversation: they are in their order, and only the user's last message moves to the end.
CREATE OR REPLACE FUNCTION cardbox.task_cards(tenant text, task text, after_event bigint)
RETURNS TABLE (kind integer, number bigint, card text)
LANGUAGE sql
AS $$
    WITH this AS (
        SELECT t.last_user, t.system_prompt FROM cardbox.tasks t WHERE t.tenant_id = tenant AND t.task_id = task
    ), said AS (
        SELECT e.n, e.how AS role, e.ref AS card,
               (SELECT c.tool_calls FROM cardbox.cards c WHERE c.tenant_id = tenant AND c.card_id = e.ref)
          FROM cardbox.task_events e
         WHERE e.tenant_id = tenant AND e.task_id = task AND e.n > after_event AND e.what = 'message'
    ), called AS (
        SELECT e.n, e.how AS status, k AS call, k.call_id, k.start_message_id, k.end_message_id
          FROM cardbox.task_events e
          JOIN cardbox.calls k ON k.tenant_id = tenant AND k.call_id = e.ref
         WHERE e.tenant_id = tenant AND e.task_id = task AND e.n > after_event AND e.what = 'call'
    ), items AS (
        SELECT CASE WHEN s.role = 'user' THEN 2 WHEN s.tool_calls @> '[{}]' THEN 1 ELSE 0 END AS kind, s.n, 0 AS part, s.card
          FROM said s
         WHERE s.role = 'user' OR s.card <> ALL (ARRAY(
               SELECT c.start_message_id FROM called c
                UNION SELECT c.end_message_id FROM called c WHERE c.end_message_id IS NOT NULL))
        UNION ALL
        SELECT 1, c.n, 1, cardbox.call_card(tenant, c.call) FROM called c
         WHERE c.status IN ('completed', 'failed') AND c.call_id <> ALL (ARRAY(
               SELECT l.id #>> '{}'
                 FROM said s CROSS JOIN jsonb_path_query(s.tool_calls, '$[*].id ? (@.type() == "string")') AS l(id)))
        UNION ALL
        SELECT 1, c.n, 2, cardbox.result_card(tenant, c.call) FROM called c WHERE c.status IN ('completed', 'failed')
        UNION ALL
        SELECT 0, 0, 0, cardbox.prompt_card(tenant, task, t.system_prompt) FROM this t
         WHERE after_event = 0 AND t.system_prompt::text <> '""' AND NOT EXISTS (SELECT FROM said s WHERE s.role = 'system')
    )
    SELECT i.kind, row_number() OVER (ORDER BY CASE WHEN after_event > 0 THEN i.kind WHEN i.n = t.last_user THEN 2 ELSE 0 END,
                                               i.n, i.part), i.card
      FROM items i CROSS JOIN this t
$$;
