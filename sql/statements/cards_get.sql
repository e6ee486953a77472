-- Reads readable cards by id, of one or more tenants. If the caller has the current etag of a card, the card's row has
-- only the index and the etag. The columns from card_id on are those of enum card_column in the C code.
-- $1 text[]  tenants
-- $2 text[]  card ids, parallel to $1
-- $3 int8[]  etags that the caller has, parallel to $1; 0: none
SELECT k.ord, n.card_id, n.content, n.tool_calls, n.tool_call_id, n.ttl_seconds, n.expires_at, n.metadata,
       n.created_at, n.sealed, c.etag
  FROM unnest($1::text[], $2::text[], array_replace($3::int8[], 0, NULL)) WITH ORDINALITY
       AS k(tenant_id, card_id, etag, ord)
  JOIN cardbox.cards c
    ON c.tenant_id = k.tenant_id COLLATE "C" AND c.card_id = k.card_id COLLATE "C"
  LEFT JOIN LATERAL (SELECT c.* WHERE c.etag IS DISTINCT FROM k.etag) AS n ON true
 WHERE c.deleted_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())
