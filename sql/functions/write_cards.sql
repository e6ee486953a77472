-- write_cards: writes cards of one or more tenants. The arrays are parallel. For stricts, restores and the outcomes see
-- upsert_card(). Outcomes from 1 to 6 are the numbers of cardbox_outcome in <cardbox/card.h>.
--   created  Creation time; NULL: now. If several cards have NULL, their times grow by microseconds, so that lists keep
--            the order.
--   expires  Expiry time, set by imports only; NULL: the creation time plus `ttls`.
--   deleted  Time of the deletion, set by imports only.
--   whole    True: all cards are written, or none if any card has the outcome 5 or 6; and the call waits for locked
--            cards. If none is written, the other outcomes are those that the cards would have had. False: each card
--            succeeds or fails on its own, and a locked card has the outcome 7.
--
-- The function checks the lengths of the ids unless the caller is in cardbox_service. Such callers check the ids
-- themselves, as the programs of CardBox do.
--
-- Cards are written in a fixed order, so that batches do not deadlock with each other. For each tenant, tool results
-- are written last, in the order of the tool calls that they answer.
CREATE OR REPLACE FUNCTION cardbox.write_cards(
    tenants text[], card_ids text[], contents json[], tool_calls jsonb[], tool_call_ids text[],
    ttls integer[], metadatas jsonb[], created timestamptz[], expires timestamptz[],
    deleted timestamptz[], seals boolean[], stricts boolean[], restores boolean[], whole boolean)
RETURNS TABLE (ord bigint, outcome integer, other_id text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    outcomes integer[];
    others   text[];
    ords     bigint[];
    made     timestamptz;
    inserts  boolean;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(tenants);
        PERFORM cardbox.check_card_keys(tenants, card_ids, tool_call_ids);
    END IF;
    IF '{infinity,-infinity}' && (created || expires || deleted) THEN
        RAISE EXCEPTION 'a time must be finite' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    inserts := cardinality(card_ids) = 1;
    IF inserts AND whole IS NOT TRUE THEN -- for a stored card that another transaction changes, the INSERT would wait
        inserts := NOT EXISTS (SELECT FROM cardbox.cards c
                               WHERE c.tenant_id = tenants[1] AND c.card_id = card_ids[1]);
    END IF;
    IF inserts THEN -- a shorter path for a single card, which is usually new
        made := coalesce(created[1], clock_timestamp());
        INSERT INTO cardbox.cards (tenant_id, card_id, content, tool_calls, tool_call_id, ttl_seconds, expires_at,
                                   deleted_at, metadata, created_at, sealed)
        SELECT tenants[1], card_ids[1], contents[1], write_cards.tool_calls[1], tool_call_ids[1], ttls[1],
               coalesce(expires[1], made + make_interval(secs => ttls[1])), deleted[1], metadatas[1], made, seals[1]
        ON CONFLICT DO NOTHING;
        IF FOUND THEN
            ord := 1;
            outcome := 1;
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;
    IF whole IS NOT TRUE OR cardinality(card_ids) = 1 THEN
        RETURN QUERY SELECT * FROM cardbox.write_each_card(
            tenants, card_ids, contents, tool_calls, tool_call_ids, ttls, metadatas, created, expires, deleted,
            seals, stricts, restores, whole);
        RETURN;
    END IF;
    BEGIN
        SELECT array_agg(w.ord), array_agg(w.outcome), array_agg(w.other_id) INTO ords, outcomes, others
          FROM cardbox.write_each_card(
               tenants, card_ids, contents, tool_calls, tool_call_ids, ttls, metadatas, created, expires, deleted,
               seals, stricts, restores, true) AS w;
        IF outcomes && '{5,6}' THEN
            RAISE EXCEPTION USING ERRCODE = 'CB001'; -- rolls back this block; the variables keep the outcomes
        END IF;
    EXCEPTION WHEN SQLSTATE 'CB001' THEN
        NULL;
    END;
    RETURN QUERY SELECT * FROM unnest(ords, outcomes, others);
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.write_cards TO cardbox_worker;
ALTER FUNCTION cardbox.write_cards OWNER TO cardbox_writer;
