-- Revokes a token by its id, even if the token was revoked before. A name revokes only a token that is not revoked yet.
-- Returns one row with the token's id if there is such a token.
-- $1 int8  id of the token; NULL: $2 is used
-- $2 text  name
UPDATE cardbox.tokens t SET revoked_at = coalesce(t.revoked_at, clock_timestamp())
 WHERE t.token_id = $1::int8 OR (t.name = $2::text AND t.revoked_at IS NULL)
RETURNING t.token_id
