-- Adds cards, each by itself: one that is a conflict or gone keeps no other from being written. So a
-- server adds the cards of many requests at once. In the order of their keys, so that two such
-- statements can't deadlock; of two with one id the first is inserted. Arrays are parallel.
-- $1 text[] tenants, $2 text[] card ids, $3 json[] content, $4 jsonb[] projections or NULL,
-- $5 jsonb[] tool calls, $6 text[] tool call ids, $7 int4[] ttl_seconds, $8 jsonb[] metadata,
-- $9 timestamptz[] created_at, $10 timestamptz[] expires_at, $11 timestamptz[] deleted_at,
-- $12 bool[] sealed, $13 bool[] strict, $14 bool[] restore
WITH given AS MATERIALIZED (
    SELECT g.ord, g.card, (g.card).tenant_id, (g.card).card_id, o.strict, o.restore
      FROM cardbox.given_cards(
               $1::text[], $2::text[], $3::json[], $4::jsonb[], $5::jsonb[], $6::text[],
               $7::int4[], $8::jsonb[], $9::timestamptz[], $10::timestamptz[],
               $11::timestamptz[], $12::bool[]) AS g
      JOIN unnest($13::bool[], $14::bool[]) WITH ORDINALITY AS o(strict, restore, ord)
        ON o.ord = g.ord
), firsts AS (
    SELECT DISTINCT ON (g.tenant_id, g.card_id) g.ord, g.card
      FROM given g ORDER BY g.tenant_id, g.card_id, g.ord
), inserted AS (
    INSERT INTO cardbox.cards SELECT (f.card).* FROM firsts f ON CONFLICT DO NOTHING
    RETURNING cards.tenant_id, cards.card_id
), judged AS (
    SELECT g.*, i.card_id IS NOT NULL AND f.ord IS NOT NULL AS done
      FROM given g
      LEFT JOIN inserted i ON i.tenant_id = g.tenant_id AND i.card_id = g.card_id
      LEFT JOIN firsts f ON f.ord = g.ord
)
SELECT j.ord, 1 AS outcome, NULL::text AS other_id FROM judged j WHERE j.done
UNION ALL
SELECT j.ord, s.outcome, s.other_id
  FROM (SELECT * FROM judged WHERE NOT done ORDER BY tenant_id, card_id, ord) AS j
 CROSS JOIN LATERAL cardbox.settle_card(j.card, j.strict, j.restore) AS s
