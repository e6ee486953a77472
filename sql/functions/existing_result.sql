-- existing_result: returns the id of the card that already is the result of the call that new_card answers;
-- NULL: there is none. A result that has expired is marked as deleted, so that another one can be written.
--   waits      Whether to wait for a card that another transaction has locked.
--   is_locked  Another transaction has locked a result that has expired.
CREATE OR REPLACE FUNCTION cardbox.existing_result(
    new_card cardbox.cards, waits boolean, OUT other_id text, OUT is_locked boolean)
LANGUAGE plpgsql
SET plan_cache_mode = auto
AS $$
DECLARE
    stored record;
BEGIN
    is_locked := false;
    IF new_card.tool_call_id IS NULL OR new_card.deleted_at IS NOT NULL
       OR (new_card.metadata ->> 'type' = 'tool.result') IS NOT TRUE THEN
        RETURN;
    END IF;
    FOR round IN 1 .. 10 LOOP -- repeated only if another transaction changed that card
        SELECT c.card_id, c.expires_at INTO stored FROM cardbox.cards c
         WHERE c.tenant_id = new_card.tenant_id AND c.tool_call_id = new_card.tool_call_id
           AND c.metadata ->> 'type' = 'tool.result' AND c.deleted_at IS NULL
           AND c.card_id <> new_card.card_id;
        EXIT WHEN stored.expires_at IS NULL OR stored.expires_at > clock_timestamp();
        is_locked := NOT cardbox.lock_card(new_card.tenant_id, stored.card_id, waits);
        EXIT WHEN is_locked;
        UPDATE cardbox.cards c SET deleted_at = c.expires_at
         WHERE c.tenant_id = new_card.tenant_id AND c.card_id = stored.card_id
           AND c.deleted_at IS NULL AND c.expires_at <= clock_timestamp();
    END LOOP;
    other_id := stored.card_id;
END
$$;
