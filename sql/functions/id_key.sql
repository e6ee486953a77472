-- id_key: returns the key of a card id in the GIN index of segments: a hash that includes the tenant. So equal ids of
-- two tenants have different keys, except for rare collisions. The index stores the hashes, so the function must never
-- change its results.
--
-- All names have their schema, because PostgreSQL may evaluate index expressions with any search_path.
CREATE OR REPLACE FUNCTION cardbox.id_key(tenant text, id text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT pg_catalog.hashtextextended(
               tenant OPERATOR(pg_catalog.||) E'\x1f'::pg_catalog.text OPERATOR(pg_catalog.||) id,
               0::pg_catalog.int8)
$$;
