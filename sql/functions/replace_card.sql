-- replace_card: repairs, restores or seals a card that the caller has locked. If `same` is false, the old row is stored
-- as a revision. Returns false and writes nothing if another card has become the result of the same tool call.
--   same  Whether both cards have equal content, metadata and tool calls, compared as JSON: then the stored text stays.
--   dead  Whether the stored card has expired or is deleted.
CREATE OR REPLACE FUNCTION cardbox.replace_card(
    old_card cardbox.cards, new_card cardbox.cards, same boolean, dead boolean)
RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode = auto
AS $$
BEGIN
    IF NOT same THEN
        -- The card is locked, so no other transaction adds a revision at the same time.
        INSERT INTO cardbox.card_revisions
            (tenant_id, card_id, revision, content, tool_calls, tool_call_id, ttl_seconds,
             expires_at, metadata, created_at)
        VALUES (old_card.tenant_id, old_card.card_id,
                (SELECT coalesce(max(r.revision), 0) + 1 FROM cardbox.card_revisions r
                  WHERE r.tenant_id = old_card.tenant_id AND r.card_id = old_card.card_id),
                old_card.content, old_card.tool_calls, old_card.tool_call_id,
                old_card.ttl_seconds, old_card.expires_at, old_card.metadata, old_card.created_at);
    END IF;
    UPDATE cardbox.cards c
       SET content = CASE WHEN same THEN c.content ELSE new_card.content END,
           metadata = new_card.metadata, tool_calls = new_card.tool_calls,
           tool_call_id = new_card.tool_call_id, sealed = c.sealed OR new_card.sealed,
           deleted_at = NULL,
           ttl_seconds = CASE WHEN dead THEN new_card.ttl_seconds ELSE c.ttl_seconds END,
           expires_at = CASE WHEN dead THEN new_card.expires_at ELSE c.expires_at END,
           created_at = CASE WHEN dead THEN new_card.created_at ELSE c.created_at END
     WHERE c.tenant_id = new_card.tenant_id AND c.card_id = new_card.card_id;
    RETURN true;
EXCEPTION WHEN unique_violation THEN
    RETURN false;
END
$$;
