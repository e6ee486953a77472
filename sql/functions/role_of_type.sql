-- role_of_type: returns the role that a card of a standard type has if its writer sets no role; NULL: the type is not a
-- standard type. The SDK has the same table, ROLES in src/store/card/card_input.c.
CREATE OR REPLACE FUNCTION cardbox.role_of_type(type text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN type = 'task.instruction' THEN 'user'
        WHEN type IN ('agent.thought', 'tool.call', 'task.deliverable') THEN 'assistant'
        WHEN type = 'tool.result' THEN 'tool'
        WHEN type IN ('sys.profile', 'sys.rendered_prompt', 'sys.tools', 'meta.parent_pointer', 'task.result_fields')
        THEN 'system' END
$$;
