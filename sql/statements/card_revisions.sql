-- What a readable card said before, newest first. One row with revision NULL if there is nothing; no
-- row if there is no such card. A revision was never sealed, or it would not be one.
-- $1 text  tenant
-- $2 text  card id
-- $3 int8  only revisions below
-- $4 int8  how many
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
