-- check_card_keys: raises 22023 (invalid_parameter_value) unless the ids of all cards have valid lengths. The arrays are
-- parallel.
CREATE OR REPLACE FUNCTION cardbox.check_card_keys(tenants text[], card_ids text[], tool_call_ids text[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    IF EXISTS (SELECT FROM unnest(tenants, card_ids, tool_call_ids) AS g (tenant, card, call)
                WHERE cardbox.is_card_key(g.tenant, g.card, g.call) IS NOT TRUE) THEN
        RAISE EXCEPTION 'an id of a project has 1 to 255 bytes, of a card 1 to 512, and of a tool call at most 512'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;
