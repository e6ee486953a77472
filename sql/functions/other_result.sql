-- other_result: the id of the card that already is the result of the call which new_card would be a
-- result of; NULL if there is none. A result that has expired is marked as deleted, so that
-- another one may be written.
CREATE OR REPLACE FUNCTION cardbox.other_result(new_card cardbox.cards) RETURNS text
LANGUAGE plpgsql
SET plan_cache_mode = auto
AS $$
DECLARE
    other record;
BEGIN
    IF new_card.tool_call_id IS NULL OR new_card.deleted_at IS NOT NULL
       OR (new_card.metadata ->> 'type' = 'tool.result') IS NOT TRUE THEN
        RETURN NULL;
    END IF;
    FOR round IN 1 .. 10 LOOP -- again only if another connection changed that card meanwhile
        SELECT c.card_id, c.expires_at INTO other FROM cardbox.cards c
         WHERE c.tenant_id = new_card.tenant_id AND c.tool_call_id = new_card.tool_call_id
           AND c.metadata ->> 'type' = 'tool.result' AND c.deleted_at IS NULL
           AND c.card_id <> new_card.card_id;
        IF other.expires_at IS NULL OR other.expires_at > clock_timestamp() THEN
            RETURN other.card_id;
        END IF;
        UPDATE cardbox.cards c SET deleted_at = c.expires_at
         WHERE c.tenant_id = new_card.tenant_id AND c.card_id = other.card_id
           AND c.deleted_at IS NULL AND c.expires_at <= clock_timestamp();
    END LOOP;
    RETURN other.card_id;
END
$$;
REVOKE ALL ON FUNCTION cardbox.other_result FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.other_result TO cardbox_service, cardbox_worker;
