-- Creates a token. Returns one row: its id, and when it was created and expires.
-- $1 text         name
-- $2 bytea        SHA-256 of the secret
-- $3 text[]       tenants; NULL: all
-- $4 text[]       scopes
-- $5 int8         seconds until it expires
-- $6 timestamptz  time at which it expires; $5 and $6 NULL: never
INSERT INTO cardbox.tokens (name, hash, tenants, scopes, expires_at)
VALUES ($1::text, $2::bytea, $3::text[], $4::text[],
        coalesce($6::timestamptz, clock_timestamp() + make_interval(secs => $5::int8)))
RETURNING token_id, created_at, expires_at
