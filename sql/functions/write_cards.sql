-- write_cards: adds cards of one tenant or several, all or none. If one is a conflict or gone
-- nothing is written, and the outcomes say what each would have been. The arrays are parallel:
--   projections  given where jsonb can't hold the raw text
--   created      NULL: now, each a microsecond later than the one before, so that lists keep their
--                order
--   expires      NULL: created plus ttls; given by imports only
--   deleted      given by imports only
-- For strict, restore and the outcomes see settle_card(): the numbers of cardbox_outcome in
-- <cardbox/card.h>.
-- A generic plan: a custom one would copy all texts into the plan.
CREATE OR REPLACE FUNCTION cardbox.write_cards(
    tenant_ids text[], card_ids text[], raws json[], projections jsonb[], tool_calls jsonb[],
    tool_call_ids text[], ttls integer[], metadatas jsonb[], created timestamptz[],
    expires timestamptz[], deleted timestamptz[], seals boolean[], strict boolean, restore boolean)
RETURNS TABLE (ord integer, outcome integer, other_id text)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    n        integer := coalesce(cardinality(card_ids), 0);
    begun    timestamptz := clock_timestamp();
    new_in   text[]; -- what was inserted: tenants
    new_ids  text[]; -- and ids
    outcomes integer[];
    others   text[] := array_fill(NULL::text, ARRAY[n]);
    pending  record;
    settled  record;
    failed   boolean := false;
BEGIN
    BEGIN
        -- All new ones at once, in the order of their keys, so that two batches can't deadlock: first
        -- those that only their ids can meet, then tool results, by the call that they answer. Of two
        -- with one id the first is inserted.
        WITH inserted AS (
            INSERT INTO cardbox.cards (tenant_id, card_id, content, raw, tool_calls, tool_call_id,
                   ttl_seconds, expires_at, deleted_at, metadata, created_at, sealed)
            SELECT c.* FROM (
                    SELECT g.i FROM generate_series(1, n) AS g(i)
                     ORDER BY tenant_ids[g.i] COLLATE "C",
                              CASE WHEN metadatas[g.i] ->> 'type' = 'tool.result'
                                   THEN tool_call_ids[g.i] END COLLATE "C" NULLS FIRST,
                              card_ids[g.i] COLLATE "C", g.i OFFSET 0) AS k
             CROSS JOIN LATERAL (
                    SELECT tenant_ids[k.i], card_ids[k.i], coalesce(projections[k.i], raws[k.i]::jsonb),
                           raws[k.i], tool_calls[k.i], tool_call_ids[k.i], ttls[k.i],
                           coalesce(expires[k.i], m.made + make_interval(secs => ttls[k.i])), deleted[k.i],
                           metadatas[k.i], m.made, seals[k.i]
                      FROM (SELECT coalesce(created[k.i], begun + k.i * interval '1 microsecond')) AS m(made)) AS c
            ON CONFLICT DO NOTHING
            RETURNING cards.tenant_id, cards.card_id
        )
        SELECT array_agg(i.tenant_id), array_agg(i.card_id) INTO new_in, new_ids FROM inserted i;
        IF cardinality(new_ids) = n THEN
            RETURN QUERY SELECT g.i, 1, NULL::text FROM generate_series(1, n) AS g(i);
            RETURN;
        END IF;

        SELECT array_agg(CASE WHEN i.card_id IS NOT NULL AND m.place = m.first THEN 1 ELSE 0 END
                         ORDER BY m.place)
          INTO outcomes
          FROM (SELECT x.tenant_id, x.card_id, x.place::integer AS place,
                       min(x.place) OVER (PARTITION BY x.tenant_id, x.card_id) AS first
                  FROM unnest(tenant_ids, card_ids) WITH ORDINALITY AS x(tenant_id, card_id, place)) AS m
          LEFT JOIN unnest(new_in, new_ids) AS i(tenant_id, card_id)
            ON i.tenant_id = m.tenant_id AND i.card_id = m.card_id;
        FOR pending IN
            SELECT g.i, coalesce(created[g.i], begun + g.i * interval '1 microsecond') AS made
              FROM generate_series(1, n) AS g(i)
             WHERE outcomes[g.i] = 0
             ORDER BY CASE WHEN metadatas[g.i] ->> 'type' = 'tool.result'
                           THEN tool_call_ids[g.i] END COLLATE "C" NULLS FIRST,
                      card_ids[g.i], g.i
        LOOP
            SELECT * INTO settled FROM cardbox.settle_card(
                ROW(tenant_ids[pending.i], card_ids[pending.i],
                    coalesce(projections[pending.i], raws[pending.i]::jsonb), raws[pending.i],
                    tool_calls[pending.i], tool_call_ids[pending.i], ttls[pending.i],
                    coalesce(expires[pending.i], pending.made + make_interval(secs => ttls[pending.i])),
                    deleted[pending.i], metadatas[pending.i], pending.made, seals[pending.i])::cardbox.cards,
                strict, restore);
            outcomes[pending.i] := settled.outcome;
            others[pending.i] := settled.other_id;
            failed := failed OR settled.outcome IN (5, 6);
        END LOOP;
        IF failed THEN
            RAISE EXCEPTION USING ERRCODE = 'CB001'; -- undoes this block; the outcomes survive
        END IF;
    EXCEPTION WHEN SQLSTATE 'CB001' THEN
        NULL;
    END;
    RETURN QUERY SELECT o.place::integer, o.outcome, o.other
                   FROM unnest(outcomes, others) WITH ORDINALITY AS o(outcome, other, place);
END
$$;
REVOKE ALL ON FUNCTION cardbox.write_cards FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.write_cards TO cardbox_service, cardbox_worker;
