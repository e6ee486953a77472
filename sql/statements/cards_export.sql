-- A page of all rows of a tenant's cards, deleted and expired ones too, in the order of their ids.
-- Not coalesce(): see boxes_list.
-- $1 text  tenant
-- $2 text  after this card id; NULL: from the first
-- $3 int8  how many
SELECT c.card_id, c.content, c.tool_calls, c.tool_call_id, c.ttl_seconds,
       c.expires_at, c.deleted_at, c.metadata, c.created_at, c.sealed, true AS exact
  FROM cardbox.cards c
 WHERE c.tenant_id = $1::text AND c.card_id > greatest($2::text, '')
 ORDER BY c.card_id LIMIT $3::int8
