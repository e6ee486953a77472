-- call_card: returns the id of the sealed card of type tool.call of a call that no message lists in its tool_calls, as in
-- a ledger from other programs. Inserts the card if there is none. The card has the name by which a model knows the
-- ability.
CREATE OR REPLACE FUNCTION cardbox.call_card(tenant text, call cardbox.calls) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    arguments json := cardbox.inner_json(call.parameters);
BEGIN
    IF json_typeof(arguments) <> 'object' THEN
        arguments := format('{"parameters":%s}', arguments);
    END IF;
    RETURN cardbox.own_card(
        tenant, 'tool.call ' || call.call_id,
        format('{"tool_name":%s,"arguments":%s}', to_json(replace(call.ability_name, ':', '__')), arguments)::json,
        jsonb_build_object('type', 'tool.call', 'role', 'assistant', 'task_id', call.task_id), call.call_id);
END
$$;
