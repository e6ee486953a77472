-- random_etag: returns a new etag: 63 random bits, never 0. A sequence would return some numbers again after a backup
-- is restored. PostgreSQL inlines the function.
CREATE OR REPLACE FUNCTION cardbox.random_etag() RETURNS bigint
LANGUAGE sql
AS $$
    SELECT greatest(uuid_hash_extended(gen_random_uuid(), 0) & 9223372036854775807, 1)
$$;
