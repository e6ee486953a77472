-- own_card: returns the id of a sealed card with exactly this content, metadata and tool call. Inserts the card if there
-- is none. The id is derived from `name`, so that a repetition finds the card again. Any client can write cards under a
-- derived id too: if another card has the id, seven more derived ids are tried, then a random id. Returns NULL if another
-- card of type tool.result answers the same tool call.
CREATE OR REPLACE FUNCTION cardbox.own_card(tenant text, name text, content json, metadata jsonb, tool_call text)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    id   text;
    same boolean;
BEGIN
    FOR attempt IN 1 .. 9 LOOP
        id := CASE attempt WHEN 1 THEN md5(name)::uuid WHEN 9 THEN gen_random_uuid()
                           ELSE md5(name || ' ' || attempt)::uuid END;
        INSERT INTO cardbox.cards (tenant_id, card_id, content, tool_call_id, metadata, created_at, sealed)
        VALUES (tenant, id, own_card.content, tool_call, own_card.metadata, clock_timestamp(), true)
        ON CONFLICT DO NOTHING;
        IF FOUND THEN
            RETURN id;
        END IF;
        -- A sealed card that does not expire can't be changed or deleted later.
        SELECT c.sealed AND c.deleted_at IS NULL AND c.expires_at IS NULL AND c.tool_calls IS NULL
               AND c.metadata = own_card.metadata AND c.tool_call_id IS NOT DISTINCT FROM tool_call
               AND cardbox.same_json(c.content, own_card.content) INTO same
          FROM cardbox.cards c WHERE c.tenant_id = tenant AND c.card_id = id;
        IF same THEN
            RETURN id;
        ELSIF NOT FOUND AND own_card.metadata ->> 'type' = 'tool.result' THEN
            RETURN NULL;
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
