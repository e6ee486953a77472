-- As cards_get, for who may know where cards lie in the table: so a card takes two thirds of the time
-- that it does by its key. A place is a guess: whatever lies there is looked at for both ids, and the
-- index is asked where it is not the card, or not any more. A card that is changed lies elsewhere.
-- $1 text[]  tenants; why in a SELECT of its own: cards_get
-- $2 text[]  card ids, parallel to $1
-- $3 tid[]   places, parallel to $1; (0,0): not known
-- The columns from card_id on are those of enum card_column in the C code, then the place.
SELECT k.ord, c.card_id, coalesce(c.raw, c.content::text::json), c.tool_calls, c.tool_call_id, c.ttl_seconds,
       c.expires_at, c.metadata, c.created_at, c.sealed, c.ctid
  FROM unnest((SELECT $1::text[]), $2::text[], $3::tid[]) WITH ORDINALITY AS k(tenant_id, card_id, place, ord)
 CROSS JOIN LATERAL (
       SELECT p.*, p.ctid
         FROM cardbox.cards p
        WHERE p.ctid = k.place AND p.tenant_id = k.tenant_id COLLATE "C" AND p.card_id = k.card_id COLLATE "C"
        UNION ALL
       SELECT i.*, i.ctid
         FROM cardbox.cards i
        WHERE i.tenant_id = k.tenant_id COLLATE "C" AND i.card_id = k.card_id COLLATE "C"
        LIMIT 1) AS c
 WHERE c.content IS NOT NULL AND c.deleted_at IS NULL
   AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())
