-- prompt_card: returns the id of a sealed card with the system prompt of a task that has no message of role system.
-- Inserts the card if there is none.
CREATE OR REPLACE FUNCTION cardbox.prompt_card(tenant text, task text, prompt json) RETURNS text
LANGUAGE sql
AS $$
    SELECT cardbox.own_card(
        tenant, 'system prompt ' || task, format('{"__type__":"TextContent","text":%s}', prompt)::json,
        jsonb_build_object('type', 'sys.rendered_prompt', 'role', 'system', 'task_id', task), NULL)
$$;
