-- is_listed_call: returns whether a message of the task with a seq up to last_seq lists the call in its tool_calls. The
-- search begins at the last message, because mostly a worker has just saved the message that lists the call.
CREATE OR REPLACE FUNCTION cardbox.is_listed_call(tenant text, task text, call_id text, last_seq bigint) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT (SELECT true FROM cardbox.messages m
              JOIN cardbox.cards c ON c.tenant_id = tenant AND c.card_id = m.message_id
             WHERE m.tenant_id = tenant AND m.task_id = task AND m.seq <= last_seq
               AND c.tool_calls @> jsonb_build_array(jsonb_build_object('id', call_id))
             ORDER BY m.seq DESC LIMIT 1) IS NOT NULL
$$;
