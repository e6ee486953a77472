-- existing_result: returns the id of another card that is already the result of the tool call that new_card answers;
-- NULL: there is none. If that result has expired, the function marks it as deleted, so that a new result can be
-- written.
--   waits      Whether to wait if another transaction has locked an expired result.
--   is_locked  Whether another transaction has locked an expired result, and `waits` is false.
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
    FOR round IN 1 .. 10 LOOP
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
