-- Lists a page of a tenant's cards in the order of their ids. Deleted and expired cards are left out. See boxes_list.sql
-- for why the condition has no coalesce().
-- $1 text  tenant
-- $2 text  last card of the previous page; NULL: the first page
-- $3 int8  maximum number of cards
SELECT c.card_id, c.content, c.tool_calls, c.tool_call_id, c.ttl_seconds,
       c.expires_at, c.deleted_at, c.metadata, c.created_at, c.sealed, true AS exact
  FROM cardbox.cards c
 WHERE c.tenant_id = $1::text AND c.card_id > greatest($2::text, '')
   AND c.deleted_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())
 ORDER BY c.card_id LIMIT $3::int8
