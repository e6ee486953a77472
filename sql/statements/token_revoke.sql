-- Revokes the token of an id, or the one of a name that is not revoked. One row, its id, if there is such
-- a token, revoked already or not.
-- $1 int8  id; NULL: by name
-- $2 text  name
UPDATE cardbox.tokens t SET revoked_at = coalesce(t.revoked_at, clock_timestamp())
 WHERE t.token_id = $1::int8 OR (t.name = $2::text AND t.revoked_at IS NULL)
RETURNING t.token_id
