-- add_card: adds a card, for SQL programs. The card is written by write_cards(), which the SDK calls. Content of a known
-- class (`__type__`) is stored as it is. The SDK checks such content, and stores it in a normal form.
--   metadata      A JSON object. If it has a standard type and no role, the role of the type is added. A repair replaces
--                 the whole metadata of the stored card: without this parameter, its type and role are removed.
--   tool_calls    A JSON array, or NULL.
--   tool_call_id  Id of the tool call whose result the card is, or NULL.
--   ttl_seconds   Seconds from the creation until the card expires; NULL or 0: the card does not expire.
--   created_at    Creation time; NULL: now.
--   sealed        Whether the card can't be changed or deleted.
--   strict        Whether other content under the id of a stored card is an error. Otherwise it repairs the card.
--   restore       Whether a deleted or expired card is restored.
--
-- Returns `inserted`, `unchanged`, `repaired` or `restored`. Errors:
--   22023  A parameter is not valid.
--   42501  The project is not granted to the caller.
--   CB409  The stored card is sealed, or `strict` is true, or the tool call has another result.
--   CB410  The card was deleted or has expired.
CREATE OR REPLACE FUNCTION cardbox.add_card(
    tenant text, card_id text, content json, metadata jsonb DEFAULT '{}', tool_calls jsonb DEFAULT NULL,
    tool_call_id text DEFAULT NULL, ttl_seconds integer DEFAULT NULL, created_at timestamptz DEFAULT NULL,
    sealed boolean DEFAULT false, strict boolean DEFAULT false, restore boolean DEFAULT false)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    role   text;
    result record;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    PERFORM cardbox.check_id('tenant', tenant, 255), cardbox.check_id('card_id', card_id, 512),
            cardbox.check_id('tool_call_id', coalesce(tool_call_id, '-'), 512),
            cardbox.check_card_members(content, metadata, tool_calls);
    IF ttl_seconds < 0 THEN
        RAISE EXCEPTION 'ttl_seconds must be 0 (for ever) or more, not %', ttl_seconds
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    metadata := coalesce(metadata, '{}');
    role := cardbox.role_of_type(metadata ->> 'type');
    IF role IS NOT NULL AND NOT metadata ? 'role' THEN
        metadata := metadata || jsonb_build_object('role', role);
    END IF;
    SELECT w.outcome, w.other_id INTO result
      FROM cardbox.write_cards(ARRAY[tenant], ARRAY[card_id], ARRAY[content], ARRAY[tool_calls], ARRAY[tool_call_id],
                               ARRAY[nullif(ttl_seconds, 0)], ARRAY[metadata], ARRAY[created_at],
                               ARRAY[NULL::timestamptz], ARRAY[NULL::timestamptz], ARRAY[coalesce(sealed, false)],
                               ARRAY[coalesce(strict, false)], ARRAY[coalesce(restore, false)], true) AS w;
    IF result.other_id IS NOT NULL THEN
        RAISE EXCEPTION 'the tool.result of call % is card %', tool_call_id, result.other_id USING ERRCODE = 'CB409';
    ELSIF result.outcome = 5 THEN
        RAISE EXCEPTION 'card % exists with other content and may not be changed', card_id USING ERRCODE = 'CB409';
    ELSIF result.outcome = 6 THEN
        RAISE EXCEPTION 'card % was deleted or has expired: ask for restore to bring it back', card_id
            USING ERRCODE = 'CB410';
    END IF;
    RETURN (ARRAY['inserted', 'unchanged', 'repaired', 'restored'])[result.outcome];
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.add_card TO cardbox_worker;
ALTER FUNCTION cardbox.add_card OWNER TO cardbox_writer;
