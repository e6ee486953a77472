-- settle_card: adds one card whose plain insert met a row with its id, or another result of its
-- call.
--   strict    other content is a conflict, not a repair
--   restore   a deleted or expired card comes back; else it is gone
--   other_id  of a conflict: the card that already is the result of the call
-- Outcomes: 1 inserted  2 unchanged  3 repaired  4 restored  5 conflict  6 gone
CREATE OR REPLACE FUNCTION cardbox.settle_card(
    new_card cardbox.cards, strict boolean, restore boolean,
    OUT outcome integer, OUT other_id text)
LANGUAGE plpgsql
SET plan_cache_mode = auto
AS $$
DECLARE
    old_card cardbox.cards;
    locked   boolean := false;
    same     boolean;
    dead     boolean;
    other    record;
BEGIN
    -- Each turn either ends or has learnt of a change that another session made meanwhile.
    FOR turn IN 1 .. 10 LOOP
        IF locked THEN
            SELECT * INTO old_card FROM cardbox.cards c
             WHERE c.tenant_id = new_card.tenant_id AND c.card_id = new_card.card_id FOR UPDATE;
        ELSE
            SELECT * INTO old_card FROM cardbox.cards c
             WHERE c.tenant_id = new_card.tenant_id AND c.card_id = new_card.card_id;
        END IF;

        -- Another card is the result of this call, unless it has expired.
        SELECT c.card_id, c.expires_at INTO other FROM cardbox.cards c
         WHERE c.tenant_id = new_card.tenant_id AND c.tool_call_id = new_card.tool_call_id
           AND c.metadata ->> 'type' = 'tool.result' AND c.deleted_at IS NULL
           AND c.card_id <> new_card.card_id AND new_card.metadata ->> 'type' = 'tool.result'
           AND new_card.deleted_at IS NULL;
        IF other.card_id IS NOT NULL THEN
            IF other.expires_at IS NULL OR other.expires_at > clock_timestamp() THEN
                outcome := 5;
                other_id := other.card_id;
                RETURN;
            END IF;
            -- It makes room, if it is still dead when this has got hold of it.
            UPDATE cardbox.cards c SET deleted_at = c.expires_at
             WHERE c.tenant_id = new_card.tenant_id AND c.card_id = other.card_id
               AND c.deleted_at IS NULL AND c.expires_at <= clock_timestamp();
            IF NOT FOUND THEN
                CONTINUE;
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

        -- What they say is in their texts, where both have one: other hands may have written none.
        same := (old_card.content IS NULL) = (new_card.content IS NULL)
            AND coalesce(cardbox.same_json(old_card.raw, new_card.raw),
                         old_card.content IS NOT DISTINCT FROM new_card.content)
            AND old_card.metadata IS NOT DISTINCT FROM new_card.metadata
            AND old_card.tool_calls IS NOT DISTINCT FROM new_card.tool_calls
            AND old_card.tool_call_id IS NOT DISTINCT FROM new_card.tool_call_id;
        dead := old_card.deleted_at IS NOT NULL
            OR coalesce(old_card.expires_at <= clock_timestamp(), false);

        IF dead AND same AND coalesce(new_card.deleted_at, new_card.expires_at)
                             <= clock_timestamp() THEN
            outcome := 2; -- an import of what is as dead there as here
            RETURN;
        ELSIF dead AND NOT restore THEN
            outcome := 6;
            RETURN;
        ELSIF same AND NOT dead AND (old_card.sealed OR NOT new_card.sealed) THEN
            outcome := 2;
            RETURN;
        ELSIF NOT same AND (strict OR old_card.sealed) THEN
            outcome := 5;
            RETURN;
        ELSIF NOT locked THEN
            locked := true;
            CONTINUE;
        END IF;

        IF NOT same THEN
            -- The lock on the card makes this count its own.
            INSERT INTO cardbox.card_revisions
                (tenant_id, card_id, revision, content, raw, tool_calls, tool_call_id, ttl_seconds,
                 expires_at, metadata, created_at)
            VALUES (old_card.tenant_id, old_card.card_id,
                    (SELECT coalesce(max(r.revision), 0) + 1 FROM cardbox.card_revisions r
                      WHERE r.tenant_id = old_card.tenant_id AND r.card_id = old_card.card_id),
                    old_card.content, old_card.raw, old_card.tool_calls, old_card.tool_call_id,
                    old_card.ttl_seconds, old_card.expires_at, old_card.metadata,
                    old_card.created_at);
        END IF;
        BEGIN
            UPDATE cardbox.cards c
               SET content = CASE WHEN same THEN c.content ELSE new_card.content END,
                   raw = new_card.raw, metadata = new_card.metadata,
                   tool_calls = new_card.tool_calls, tool_call_id = new_card.tool_call_id,
                   sealed = c.sealed OR new_card.sealed, deleted_at = NULL,
                   ttl_seconds = CASE WHEN dead THEN new_card.ttl_seconds ELSE c.ttl_seconds END,
                   expires_at = CASE WHEN dead THEN new_card.expires_at ELSE c.expires_at END,
                   created_at = CASE WHEN dead THEN new_card.created_at ELSE c.created_at END
             WHERE c.tenant_id = new_card.tenant_id AND c.card_id = new_card.card_id;
            outcome := CASE WHEN dead THEN 4 WHEN same THEN 2 ELSE 3 END;
            RETURN;
        EXCEPTION WHEN unique_violation THEN
            NULL; -- a second tool.result arrived between our look and our write: look again
        END;
    END LOOP;
    RAISE EXCEPTION 'card % changes faster than it can be written', new_card.card_id
        USING ERRCODE = 'serialization_failure';
END
$$;
REVOKE ALL ON FUNCTION cardbox.settle_card FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.settle_card TO cardbox_service, cardbox_worker;
