-- id_key: the key of a card id in the index of segments: a hash that includes the tenant, so that
-- ids of two tenants never share a key.
-- All names are qualified: ANALYZE computes it as the owner, with any search_path. The values must
-- not change, since the index contains them.
CREATE OR REPLACE FUNCTION cardbox.id_key(tenant text, id text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT pg_catalog.hashtextextended(
               tenant OPERATOR(pg_catalog.||) E'\x1f'::pg_catalog.text OPERATOR(pg_catalog.||) id,
               0::pg_catalog.int8)
$$;
