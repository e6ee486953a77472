-- result_card: returns the id of the sealed card of type tool.result with the result of a call that has ended. Inserts the
-- card if the call has none. A program may have stored the result of the call under another id before.
CREATE OR REPLACE FUNCTION cardbox.result_card(tenant text, call cardbox.calls) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    id     text := md5('tool.result ' || call.call_id)::uuid::text;
    stored text;
BEGIN
    INSERT INTO cardbox.cards (tenant_id, card_id, content, tool_call_id, metadata, created_at, sealed)
    VALUES (tenant, id,
            format('{"status":"%s","result":%s}', CASE call.status WHEN 'completed' THEN 'success' ELSE 'failed' END,
                   cardbox.inner_json(call.details))::json,
            call.call_id,
            jsonb_build_object('type', 'tool.result', 'role', 'tool', 'tool_name', call.ability_name,
                               'task_id', call.task_id),
            clock_timestamp(), true)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        SELECT c.card_id INTO stored FROM cardbox.cards c
         WHERE c.tenant_id = tenant AND c.tool_call_id = call.call_id
           AND c.metadata ->> 'type' = 'tool.result' AND c.deleted_at IS NULL;
    END IF;
    RETURN coalesce(stored, id);
END
$$;
