-- upsert_card: writes a card. A card with the same id may already be stored, or another card that is a
-- result of the same tool call.
--   strict    If a stored card differs: true: a conflict; false: the card is repaired, unless it is sealed.
--   restore   Whether a deleted or expired card is restored; false: the outcome is 6.
--   waits     Whether to wait for a card that another transaction has locked.
--   other_id  Id of another card that is already the result of the tool call which new_card answers; NULL: none.
--
-- Outcomes: 1 inserted, 2 unchanged or only sealed, 3 repaired, 4 restored, 5 conflict, 6 deleted or expired, 7 locked.
-- Outcome 7: the card, or another card that is the expired result of the same tool call, is locked. If the new card is
-- itself deleted or expired, an equal stored card that is deleted or expired has the outcome 2.
CREATE OR REPLACE FUNCTION cardbox.upsert_card(
    new_card cardbox.cards, strict boolean, restore boolean, waits boolean,
    OUT outcome integer, OUT other_id text)
LANGUAGE plpgsql
SET plan_cache_mode = auto
AS $$
DECLARE
    old_card cardbox.cards;
    locked   boolean := false;
    same     boolean;
    dead     boolean;
BEGIN
    -- The first round does not lock the card, because a repeated request writes nothing. If the card must be changed,
    -- the second round locks and reads it. Further rounds follow only if another transaction interferes.
    FOR round IN 1 .. 10 LOOP
        IF locked AND NOT cardbox.lock_card(new_card.tenant_id, new_card.card_id, waits) THEN
            outcome := 7;
            RETURN;
        END IF;
        SELECT * INTO old_card FROM cardbox.cards c
         WHERE c.tenant_id = new_card.tenant_id AND c.card_id = new_card.card_id;
        IF new_card.tool_call_id IS NOT NULL THEN
            SELECT o.other_id, CASE WHEN o.is_locked THEN 7 WHEN o.other_id IS NOT NULL THEN 5 END
              INTO other_id, outcome FROM cardbox.existing_result(new_card, waits) AS o;
            IF outcome IS NOT NULL THEN
                RETURN;
            END IF;
        END IF;
        IF old_card.card_id IS NULL THEN
            INSERT INTO cardbox.cards SELECT new_card.* ON CONFLICT DO NOTHING;
            IF FOUND THEN
                outcome := 1;
                RETURN;
            END IF;
            CONTINUE;
        END IF;

        -- reads show absent metadata as {}, so that both are the same
        same := coalesce(old_card.metadata, '{}') = coalesce(new_card.metadata, '{}')
            AND old_card.tool_calls IS NOT DISTINCT FROM new_card.tool_calls
            AND old_card.tool_call_id IS NOT DISTINCT FROM new_card.tool_call_id
            AND cardbox.same_json(old_card.content, new_card.content);
        dead := old_card.deleted_at IS NOT NULL
            OR coalesce(old_card.expires_at <= clock_timestamp(), false);
        outcome := CASE
            WHEN dead AND same AND coalesce(new_card.deleted_at, new_card.expires_at)
                                   <= clock_timestamp() THEN 2 -- an import repeats a deleted or expired card
            WHEN dead AND restore IS NOT TRUE THEN 6
            WHEN same AND NOT dead AND (old_card.sealed OR NOT new_card.sealed) THEN 2
            WHEN NOT same AND (strict OR old_card.sealed) THEN 5 END;
        IF outcome IS NOT NULL THEN
            RETURN;
        ELSIF NOT locked THEN
            locked := true;
        ELSIF cardbox.replace_card(old_card, new_card, same, dead) THEN
            outcome := CASE WHEN dead THEN 4 WHEN same THEN 2 ELSE 3 END;
            RETURN;
        END IF;
    END LOOP;
    RAISE EXCEPTION 'card % changes faster than it can be written', new_card.card_id
        USING ERRCODE = 'serialization_failure';
END
$$;
