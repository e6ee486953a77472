-- Lists the earlier contents of a readable card, newest first. If no revision matches, one row with revision NULL is
-- returned. If there is no readable card, no row is returned. `sealed` is false, because a sealed content is never
-- replaced.
-- $1 text  tenant
-- $2 text  card id
-- $3 int8  only revisions below this one
-- $4 int8  maximum number of revisions
SELECT r.revision, r.replaced_at, r.card_id, r.content, r.tool_calls,
       r.tool_call_id, r.ttl_seconds, r.expires_at, r.metadata, r.created_at, false AS sealed
  FROM cardbox.cards c
  LEFT JOIN LATERAL (
        SELECT * FROM cardbox.card_revisions x
         WHERE x.tenant_id = c.tenant_id AND x.card_id = c.card_id AND x.revision < $3::int8
         ORDER BY x.revision DESC LIMIT $4::int8) AS r ON true
 WHERE c.tenant_id = $1::text AND c.card_id = $2::text
   AND c.deleted_at IS NULL
   AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())
 ORDER BY r.revision DESC
