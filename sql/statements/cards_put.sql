-- Adds cards, each by itself: one that is a conflict or gone keeps no other from being written. So
-- a server adds the cards of many requests at once. In the order of their keys, so that two such
-- statements can't deadlock: tool results last, by the call that they answer, as in write_cards. Of two
-- with one id the first is inserted. Arrays are parallel.
-- The lookups in what was inserted stand where no join can be made of them: they are hashed, for few
-- cards as for many; and $1 stands in a SELECT of its own: see cards_get. `given` is no
-- function, since one that returns rows is planned anew at each call: that was half of the time.
-- $1 text[] tenants, $2 text[] card ids, $3 json[] content, $4 jsonb[] tool calls,
-- $5 text[] tool call ids, $6 int4[] ttl_seconds, $7 jsonb[] metadata, $8 timestamptz[] created_at,
-- $9 timestamptz[] expires_at, $10 timestamptz[] deleted_at, $11 bool[] sealed, $12 bool[] strict,
-- $13 bool[] restore
WITH given AS MATERIALIZED (
    SELECT u.ord, u.tenant_id, u.card_id, u.content, u.tool_calls, u.tool_call_id, u.ttl,
           coalesce(u.expires, u.made + make_interval(secs => u.ttl)) AS expires, u.deleted,
           u.metadata, u.made, u.sealed, u.strict, u.restore,
           CASE WHEN u.metadata ->> 'type' = 'tool.result' THEN u.tool_call_id END COLLATE "C"
           AS call,
           row_number() OVER (PARTITION BY u.tenant_id COLLATE "C", u.card_id COLLATE "C"
                              ORDER BY u.ord) = 1 AS first
      FROM (SELECT x.*, coalesce(x.created, clock_timestamp()) AS made
              FROM unnest((SELECT $1::text[]), $2::text[], $3::json[], $4::jsonb[], $5::text[], $6::int4[],
                          $7::jsonb[], $8::timestamptz[], $9::timestamptz[], $10::timestamptz[],
                          $11::bool[], $12::bool[], $13::bool[]) WITH ORDINALITY
                   AS x(tenant_id, card_id, content, tool_calls, tool_call_id, ttl, metadata, created,
                        expires, deleted, sealed, strict, restore, ord)) AS u
     ORDER BY u.tenant_id COLLATE "C", call NULLS FIRST, u.card_id COLLATE "C", u.ord
), inserted AS (
    INSERT INTO cardbox.cards (tenant_id, card_id, content, tool_calls, tool_call_id, ttl_seconds,
                               expires_at, deleted_at, metadata, created_at, sealed)
    SELECT g.tenant_id, g.card_id, g.content, g.tool_calls, g.tool_call_id, g.ttl, g.expires,
           g.deleted, g.metadata, g.made, g.sealed FROM given g
    ON CONFLICT DO NOTHING
    RETURNING tenant_id, card_id
)
SELECT g.ord, 1 AS outcome, NULL::text AS other_id FROM given g
 WHERE (g.first AND (g.tenant_id, g.card_id) IN (SELECT i.tenant_id, i.card_id
                                                    FROM inserted i)) IS TRUE
UNION ALL
SELECT g.ord, s.outcome, s.other_id
  FROM (SELECT * FROM given g
         WHERE (g.first AND (g.tenant_id, g.card_id) IN (SELECT i.tenant_id, i.card_id
                                                            FROM inserted i)) IS NOT TRUE
         ORDER BY g.tenant_id COLLATE "C", g.call NULLS FIRST, g.card_id COLLATE "C",
                  g.ord) AS g
 CROSS JOIN LATERAL cardbox.upsert_card(
       ROW(g.tenant_id, g.card_id, g.content, g.tool_calls, g.tool_call_id, g.ttl, g.expires,
           g.deleted, g.metadata, g.made, cardbox.random_etag(), g.sealed)::cardbox.cards,
       g.strict, g.restore) AS s
