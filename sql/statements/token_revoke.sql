-- Revokes a token by its id, or the unrevoked token that has a name. Returns one row with its id if there is such a
-- token, even if it was revoked before.
-- $1 int8  id; NULL: $2 is used
-- $2 text  name
UPDATE cardbox.tokens t SET revoked_at = coalesce(t.revoked_at, clock_timestamp())
 WHERE t.token_id = $1::int8 OR (t.name = $2::text AND t.revoked_at IS NULL)
RETURNING t.token_id
