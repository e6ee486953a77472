-- Readable cards by id, for one tenant or several at once. Of a card whose etag the asker has already
-- the row has only the ordinal and the etag.
-- $1 text[]  tenants
-- $2 text[]  card ids, parallel to $1
-- $3 int8[]  the etags that the asker has, parallel to $1; 0: none
-- $1 stands in a SELECT of its own so that the planner does not see how many there are: else it finds
-- a plan made for one or two cards cheaper than one for any number, and makes it anew each time.
-- The columns from card_id on are those of enum card_column in the C code.
SELECT k.ord, n.card_id, n.content, n.tool_calls, n.tool_call_id, n.ttl_seconds, n.expires_at,
       n.metadata, n.created_at, n.sealed, c.etag
  FROM unnest((SELECT $1::text[]), $2::text[], $3::int8[]) WITH ORDINALITY
       AS k(tenant_id, card_id, etag, ord)
  JOIN cardbox.cards c
    ON c.tenant_id = k.tenant_id COLLATE "C" AND c.card_id = k.card_id COLLATE "C"
  LEFT JOIN LATERAL (
       SELECT c.card_id, c.content, c.tool_calls, c.tool_call_id, c.ttl_seconds, c.expires_at,
              c.metadata, c.created_at, c.sealed) AS n ON (c.etag = k.etag AND k.etag <> 0) IS NOT TRUE
 WHERE c.deleted_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())
