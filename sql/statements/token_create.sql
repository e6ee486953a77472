-- Creates a token. Returns one row: the token's id, creation time and expiry time.
-- $1 text         name
-- $2 bytea        SHA-256 of the secret
-- $3 text[]       tenants; NULL: all
-- $4 text[]       scopes
-- $5 int8         seconds until the token expires, used if $6 is NULL
-- $6 timestamptz  time at which the token expires; $5 and $6 NULL: never
INSERT INTO cardbox.tokens (name, hash, tenants, scopes, expires_at)
VALUES ($1::text, $2::bytea, $3::text[], $4::text[],
        coalesce($6::timestamptz, clock_timestamp() + make_interval(secs => $5::int8)))
RETURNING token_id, created_at, expires_at
