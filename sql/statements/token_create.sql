-- Makes a token. One row: its id, and when it was made and expires.
-- $1 text    name
-- $2 bytea   SHA-256 of the secret
-- $3 text[]  tenants; NULL: all
-- $4 text[]  scopes
-- $5 int8    seconds until it expires, $6 timestamptz the moment when it does; both NULL: never
INSERT INTO cardbox.tokens (name, hash, tenants, scopes, expires_at)
VALUES ($1::text, $2::bytea, $3::text[], $4::text[],
        coalesce($6::timestamptz, clock_timestamp() + make_interval(secs => $5::int8)))
RETURNING token_id, created_at, expires_at
