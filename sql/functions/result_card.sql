-- result_card: returns the id of the sealed card of type tool.result with the result of a call that has ended. Inserts the
-- card if the call has none. If another card of this type already answers the call, that card is not used, because
-- its content may differ from the ledger. Then the card with the result has no type: its content has the class of a result.
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
