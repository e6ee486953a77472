-- Readable cards by id, for one tenant or several at once.
-- $1 text[]  tenants
-- $2 text[]  card ids, parallel to $1
-- $1 stands in a SELECT of its own so that the planner does not see how many there are: else it finds
-- a plan made for one or two cards cheaper than one for any number, and makes it anew each time.
-- The columns from card_id on are those of enum card_column in the C code.
SELECT k.ord, c.card_id, coalesce(c.raw, c.content::text::json), c.tool_calls, c.tool_call_id, c.ttl_seconds,
       c.expires_at, c.metadata, c.created_at, c.sealed
  FROM unnest((SELECT $1::text[]), $2::text[]) WITH ORDINALITY AS k(tenant_id, card_id, ord)
  JOIN cardbox.cards c
    ON c.tenant_id = k.tenant_id COLLATE "C" AND c.card_id = k.card_id COLLATE "C"
 WHERE c.content IS NOT NULL AND c.deleted_at IS NULL
   AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())
