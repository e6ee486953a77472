-- write_cards: adds cards of one tenant or several, all or none. If one is a conflict or gone
-- nothing is written, and the outcomes say what each would have been. The arrays are parallel:
--   created  NULL: now, each a microsecond later than the one before, so that lists keep their order
--   expires  NULL: created plus ttls; given by imports only
--   deleted  given by imports only
-- For strict, restore and the outcomes see upsert_card(): the numbers of cardbox_outcome in
-- <cardbox/card.h>.
-- Cards are written in the order of their keys, so that two batches can't deadlock: first those that
-- only their ids can meet, then tool results, by the call that they answer.
-- A generic plan: a custom one would copy all texts into the plan.
CREATE OR REPLACE FUNCTION cardbox.write_cards(
    tenant_ids text[], card_ids text[], contents json[], tool_calls jsonb[], tool_call_ids text[],
    ttls integer[], metadatas jsonb[], created timestamptz[], expires timestamptz[],
    deleted timestamptz[], seals boolean[], strict boolean, restore boolean)
RETURNS TABLE (ord integer, outcome integer, other_id text)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    n         CONSTANT integer := coalesce(cardinality(card_ids), 0);
    begun     CONSTANT timestamptz := clock_timestamp();
    positions integer[];
    new_in    text[]; -- what was inserted: tenants
    new_ids   text[]; -- and ids
    outcomes  integer[];
    others    text[] := array_fill(NULL::text, ARRAY[n]);
    i         integer;
    done      record;
BEGIN
    SELECT array_agg(t.made ORDER BY t.i),
           array_agg(coalesce(expires[t.i], t.made + make_interval(secs => ttls[t.i])) ORDER BY t.i),
           array_agg(t.i ORDER BY tenant_ids[t.i] COLLATE "C",
                     CASE WHEN metadatas[t.i] ->> 'type' = 'tool.result' THEN tool_call_ids[t.i] END
                     COLLATE "C" NULLS FIRST, card_ids[t.i] COLLATE "C", t.i)
      INTO created, expires, positions
      FROM (SELECT g.i, coalesce(created[g.i], begun + g.i * interval '1 microsecond') AS made
              FROM generate_series(1, n) AS g(i)) AS t;
    BEGIN
        -- All new ones at once. Of two with one id the first is inserted.
        WITH inserted AS (
            INSERT INTO cardbox.cards AS c (tenant_id, card_id, content, tool_calls, tool_call_id,
                   ttl_seconds, expires_at, deleted_at, metadata, created_at, sealed)
            SELECT tenant_ids[k.i], card_ids[k.i], contents[k.i], write_cards.tool_calls[k.i],
                   tool_call_ids[k.i], ttls[k.i], expires[k.i], deleted[k.i], metadatas[k.i],
                   created[k.i], seals[k.i]
              FROM unnest(positions) AS k(i)
            ON CONFLICT DO NOTHING
            RETURNING c.tenant_id, c.card_id
        )
        SELECT array_agg(x.tenant_id), array_agg(x.card_id) INTO new_in, new_ids FROM inserted AS x;
        IF cardinality(new_ids) = n THEN
            RETURN QUERY SELECT g.i, 1, NULL::text FROM generate_series(1, n) AS g(i);
            RETURN;
        END IF;
        SELECT array_agg(CASE WHEN x.card_id IS NOT NULL AND m.position = m.first THEN 1 END
                         ORDER BY m.position)
          INTO outcomes
          FROM (SELECT u.tenant_id, u.card_id, u.position,
                       min(u.position) OVER (PARTITION BY u.tenant_id, u.card_id) AS first
                  FROM unnest(tenant_ids, card_ids) WITH ORDINALITY AS u(tenant_id, card_id, position)) AS m
          LEFT JOIN unnest(new_in, new_ids) AS x(tenant_id, card_id)
            ON x.tenant_id = m.tenant_id AND x.card_id = m.card_id;
        FOREACH i IN ARRAY coalesce(positions, '{}') LOOP
            CONTINUE WHEN outcomes[i] = 1;
            SELECT u.outcome, u.other_id INTO done FROM cardbox.upsert_card(
                ROW(tenant_ids[i], card_ids[i], contents[i], write_cards.tool_calls[i], tool_call_ids[i],
                    ttls[i], expires[i], deleted[i], metadatas[i], created[i], cardbox.random_etag(),
                    seals[i])::cardbox.cards, strict, restore) AS u;
            outcomes[i] := done.outcome;
            others[i] := done.other_id;
        END LOOP;
        IF outcomes && '{5,6}' THEN
            RAISE EXCEPTION USING ERRCODE = 'CB001'; -- undoes this block; the outcomes survive
        END IF;
    EXCEPTION WHEN SQLSTATE 'CB001' THEN
        NULL;
    END;
    RETURN QUERY SELECT o.position::integer, o.outcome, o.other FROM unnest(outcomes, others)
                   WITH ORDINALITY AS o(outcome, other, position);
END
$$;
REVOKE ALL ON FUNCTION cardbox.write_cards FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.write_cards TO cardbox_service, cardbox_worker;
