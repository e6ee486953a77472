-- Cards that entries left behind when they went out of the tree, before 0037. A card is one of these if a
-- session here has written it (its id is of that session, and its content 'null'; one that came with an
-- export has a content, and may wait for its session), and no entry, message or box has it.
DO $$
DECLARE
    t record;
BEGIN
    FOR t IN
        WITH orphans AS MATERIALIZED (
            SELECT c.tenant_id, c.card_id FROM cardbox.cards c
             WHERE c.sealed AND c.content = 'null' AND json_typeof(c.raw) = 'object'
               AND c.metadata ->> 'type' LIKE 'session.%' AND c.metadata ->> 'entry_id' IS NOT NULL
               AND NOT EXISTS (SELECT FROM cardbox.session_entries e
                                WHERE e.tenant_id = c.tenant_id AND e.card_id = c.card_id)
               AND left(c.card_id, -12) = cardbox.session_card_prefix(c.metadata ->> 'session_id')
               AND right(c.card_id, 12) ~ '^[0-9a-f]{12}$'
        ), boxed AS (
            SELECT s.tenant_id, k.id
              FROM cardbox.card_box_segments s
             CROSS JOIN LATERAL jsonb_array_elements_text(s.card_ids) AS k(id)
             WHERE s.tenant_id IN (SELECT o.tenant_id FROM orphans o)
            UNION ALL
            SELECT b.tenant_id, k.id
              FROM cardbox.card_boxes b
             CROSS JOIN LATERAL jsonb_array_elements_text(b.tail) AS k(id)
             WHERE b.tenant_id IN (SELECT o.tenant_id FROM orphans o)
        )
        SELECT o.tenant_id, array_agg(o.card_id) AS ids FROM orphans o
         WHERE NOT EXISTS (SELECT FROM boxed b WHERE b.tenant_id = o.tenant_id AND b.id = o.card_id)
         GROUP BY o.tenant_id
    LOOP
        PERFORM cardbox.remove_unused_cards(t.tenant_id, t.ids);
    END LOOP;
END
$$;
