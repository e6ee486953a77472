-- result_card: returns the id of a sealed card with the result of a call that has ended. Inserts the card if the call has
-- none. The card's type is tool.result. If another card of this type answers the call, the returned card has no type,
-- and its content is a ToolResultContent.
CREATE OR REPLACE FUNCTION cardbox.result_card(tenant text, call cardbox.calls) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    name     CONSTANT text := 'tool.result ' || call.call_id;
    members  CONSTANT text := format('"status":"%s","result":%s}',
                                     CASE call.status WHEN 'completed' THEN 'success' ELSE 'failed' END,
                                     cardbox.inner_json(call.details));
    metadata CONSTANT jsonb := jsonb_build_object('type', 'tool.result', 'role', 'tool', 'tool_name', call.ability_name,
                                                  'task_id', call.task_id);
BEGIN
    RETURN coalesce(cardbox.own_card(tenant, name, ('{' || members)::json, metadata, call.call_id),
                    cardbox.own_card(tenant, name, ('{"__type__":"ToolResultContent",' || members)::json,
                                     metadata - 'type', call.call_id));
END
$$;
