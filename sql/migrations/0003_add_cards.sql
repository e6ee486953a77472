-- Writing cards. One call takes many cards, of one tenant or several, and gives each its outcome:
--   1 inserted  2 unchanged  3 repaired  4 restored  5 conflict  6 gone
-- The numbers are those of cardbox_outcome in <cardbox/card.h>.

-- Whether two texts say the same JSON. What jsonb can't hold (\u0000, half a surrogate pair) is only
-- the same as itself.
CREATE FUNCTION cardbox.same_json(a json, b json) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN a::text = b::text OR a::jsonb = b::jsonb;
EXCEPTION WHEN data_exception THEN
    RETURN false;
END
$$;

-- What became of one card whose plain insert found something in its way.
CREATE FUNCTION cardbox.settle_card(
    new_card cardbox.cards, strict boolean, restore boolean,
    OUT outcome integer, OUT other_id text)
LANGUAGE plpgsql AS $$
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

        same := old_card.content IS NOT DISTINCT FROM new_card.content
            AND coalesce(cardbox.same_json(old_card.raw, new_card.raw), true) -- NULL: other hands wrote it
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
               SET content = new_card.content, raw = new_card.raw, metadata = new_card.metadata,
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

-- What a call to add cards gave, as rows for the table. Arrays are parallel. A projection is given
-- where jsonb can't hold the raw text; created_at NULL means now; expires_at NULL is derived from
-- ttl_seconds; expires_at and deleted_at are given by imports only.
CREATE FUNCTION cardbox.given_cards(
    tenant_ids text[], card_ids text[], raws json[], projections jsonb[], tool_calls jsonb[],
    tool_call_ids text[], ttls integer[], metadatas jsonb[], created timestamptz[],
    expires timestamptz[], deleted timestamptz[], seals boolean[])
RETURNS TABLE (ord bigint, card cardbox.cards)
LANGUAGE sql VOLATILE AS $$
    SELECT k.ord, ROW(k.tenant_id, k.card_id, coalesce(k.projection, k.raw::jsonb), k.raw,
                      k.tool_calls, k.tool_call_id, k.ttl,
                      coalesce(k.expires, k.made + make_interval(secs => k.ttl)), k.deleted,
                      k.metadata, k.made, k.sealed)::cardbox.cards
      FROM (SELECT u.*, coalesce(u.created, clock_timestamp()) AS made
              FROM unnest(tenant_ids, card_ids, raws, projections, tool_calls, tool_call_ids, ttls,
                          metadatas, created, expires, deleted, seals) WITH ORDINALITY
                   AS u(tenant_id, card_id, raw, projection, tool_calls, tool_call_id, ttl,
                        metadata, created, expires, deleted, sealed, ord)) AS k
$$;

-- Adds cards, all or none: if one is a conflict or gone, nothing is written, and the outcomes tell
-- what each would have been.
CREATE FUNCTION cardbox.add_cards(batch cardbox.cards[], strict boolean, restore boolean)
RETURNS TABLE (ord integer, outcome integer, other_id text)
LANGUAGE plpgsql AS $$
DECLARE
    n        integer := cardinality(batch);
    outcomes integer[];
    others   text[] := array_fill(NULL::text, ARRAY[n]);
    pending  record;
    settled  record;
    failed   boolean := false;
BEGIN
    BEGIN
        -- All new ones at once, in the order of their keys, so that two batches can't deadlock.
        -- Of two with one id the first is inserted.
        WITH numbered AS (
            SELECT k.*, k.ord::integer AS place
              FROM unnest(batch) WITH ORDINALITY
                   AS k(tenant_id, card_id, content, raw, tool_calls, tool_call_id, ttl_seconds,
                        expires_at, deleted_at, metadata, created_at, sealed, ord)
        ), inserted AS (
            INSERT INTO cardbox.cards (tenant_id, card_id, content, raw, tool_calls, tool_call_id,
                   ttl_seconds, expires_at, deleted_at, metadata, created_at, sealed)
            SELECT DISTINCT ON (m.tenant_id, m.card_id)
                   m.tenant_id, m.card_id, m.content, m.raw, m.tool_calls, m.tool_call_id,
                   m.ttl_seconds, m.expires_at, m.deleted_at, m.metadata, m.created_at, m.sealed
              FROM numbered m ORDER BY m.tenant_id, m.card_id, m.place
            ON CONFLICT DO NOTHING
            RETURNING cards.tenant_id, cards.card_id
        )
        SELECT array_agg(CASE WHEN i.card_id IS NOT NULL AND m.place = m.first THEN 1 ELSE 0 END
                         ORDER BY m.place)
          INTO outcomes
          FROM (SELECT x.tenant_id, x.card_id, x.place,
                       min(x.place) OVER (PARTITION BY x.tenant_id, x.card_id) AS first
                  FROM numbered x) AS m
          LEFT JOIN inserted i ON i.tenant_id = m.tenant_id AND i.card_id = m.card_id;

        FOR pending IN
            SELECT o.place FROM unnest(outcomes) WITH ORDINALITY AS o(done, place)
             WHERE o.done = 0 ORDER BY batch[o.place].card_id, o.place
        LOOP
            SELECT * INTO settled FROM cardbox.settle_card(batch[pending.place], strict, restore);
            outcomes[pending.place] := settled.outcome;
            others[pending.place] := settled.other_id;
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
