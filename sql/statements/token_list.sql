-- Lists all tokens, oldest first, without their hashes. Tenants and scopes are returned as JSON and as text.
SELECT t.token_id, t.name, array_to_json(t.tenants), array_to_json(t.scopes), t.created_at,
       t.expires_at, t.revoked_at, coalesce(t.expires_at <= clock_timestamp(), false),
       array_to_string(t.tenants, ', '), array_to_string(t.scopes, ', ')
  FROM cardbox.tokens t ORDER BY t.token_id
