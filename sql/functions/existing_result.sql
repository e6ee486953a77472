-- existing_result: the card that already is the result of the call which new_card would be a result of;
-- other_id NULL: there is none. A result that has expired is marked as deleted. Then another one may
-- be written.
--   waits      whether it waits for a locked card
--   is_locked  others have locked an expired one
CREATE OR REPLACE FUNCTION cardbox.existing_result(
    new_card cardbox.cards, waits boolean, OUT other_id text, OUT is_locked boolean)
LANGUAGE plpgsql
SET plan_cache_mode = auto
AS $$
DECLARE
    other record;
BEGIN
    is_locked := false;
    IF new_card.tool_call_id IS NULL OR new_card.deleted_at IS NOT NULL
       OR (new_card.metadata ->> 'type' = 'tool.result') IS NOT TRUE THEN
        RETURN;
    END IF;
    FOR round IN 1 .. 10 LOOP -- again only if another connection changed that card meanwhile
        SELECT c.card_id, c.expires_at INTO other FROM cardbox.cards c
         WHERE c.tenant_id = new_card.tenant_id AND c.tool_call_id = new_card.tool_call_id
           AND c.metadata ->> 'type' = 'tool.result' AND c.deleted_at IS NULL
           AND c.card_id <> new_card.card_id;
        EXIT WHEN other.expires_at IS NULL OR other.expires_at > clock_timestamp();
        is_locked := NOT cardbox.lock_card(new_card.tenant_id, other.card_id, waits);
        EXIT WHEN is_locked;
        UPDATE cardbox.cards c SET deleted_at = c.expires_at
         WHERE c.tenant_id = new_card.tenant_id AND c.card_id = other.card_id
           AND c.deleted_at IS NULL AND c.expires_at <= clock_timestamp();
    END LOOP;
    other_id := other.card_id;
END
$$;
