-- Adding cards takes its locks in one order, also where tool results of one call meet that have other
-- ids: there is one for each call. In the order of ids two batches with results of the same calls could
-- each wait for the other. What became of a batch is as it was before.
CREATE OR REPLACE FUNCTION cardbox.add_cards(batch cardbox.cards[], strict boolean, restore boolean)
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
        -- All new ones at once, in the order of their keys, so that two batches can't deadlock: first
        -- those that only their ids can meet, then tool results, by the call that they answer. Of two
        -- with one id the first is inserted.
        WITH numbered AS (
            SELECT k.*, k.ord::integer AS place,
                   CASE WHEN k.metadata ->> 'type' = 'tool.result' THEN k.tool_call_id END AS call
              FROM unnest(batch) WITH ORDINALITY
                   AS k(tenant_id, card_id, content, raw, tool_calls, tool_call_id, ttl_seconds,
                        expires_at, deleted_at, metadata, created_at, sealed, ord)
        ), inserted AS (
            INSERT INTO cardbox.cards (tenant_id, card_id, content, raw, tool_calls, tool_call_id,
                   ttl_seconds, expires_at, deleted_at, metadata, created_at, sealed)
            SELECT d.tenant_id, d.card_id, d.content, d.raw, d.tool_calls, d.tool_call_id,
                   d.ttl_seconds, d.expires_at, d.deleted_at, d.metadata, d.created_at, d.sealed
              FROM (SELECT DISTINCT ON (m.tenant_id, m.card_id) m.*
                      FROM numbered m ORDER BY m.tenant_id, m.card_id, m.place) AS d
             ORDER BY d.tenant_id, d.call COLLATE "C" NULLS FIRST, d.card_id
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
             WHERE o.done = 0
             ORDER BY CASE WHEN batch[o.place].metadata ->> 'type' = 'tool.result'
                           THEN batch[o.place].tool_call_id END COLLATE "C" NULLS FIRST,
                      batch[o.place].card_id, o.place
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

-- Who may update or delete in a whole table may also lock all of it, in any mode (LOCK TABLE), and so
-- keep all other tenants waiting. Who may update its columns may not, and can do the rest all the same.
-- No key is among them.
REVOKE UPDATE ON cardbox.cards, cardbox.card_boxes, cardbox.sessions FROM cardbox_worker;
GRANT UPDATE (content, raw, tool_calls, tool_call_id, ttl_seconds, expires_at, deleted_at, metadata,
              created_at, sealed)
      ON cardbox.cards TO cardbox_worker;
GRANT UPDATE (chain_id, own_from, length, version, tail, parent_ids, updated_at, deleted_at)
      ON cardbox.card_boxes TO cardbox_worker;
GRANT UPDATE (dialect, header, name, forked_from, head_seq, last_seq, last_ord, open_end, has_rings, entries,
              version, updated_at)
      ON cardbox.sessions TO cardbox_worker;
