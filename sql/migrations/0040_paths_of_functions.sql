-- What PostgreSQL runs with the owner's rights takes no name from where others may put one.
-- A path that does not name pg_temp begins with it, for types: a worker could put a domain called "text"
-- there, and what it checks ran as the owner, past row-level security.
ALTER FUNCTION cardbox.drop_ring_entry SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION cardbox.drop_chunks_of_lease SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION cardbox.drop_chunks_of_message SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION cardbox.drop_other_chunks SET search_path = pg_catalog, pg_temp;
REVOKE EXECUTE ON FUNCTION cardbox.drop_ring_entry FROM cardbox_service, cardbox_worker;

-- ANALYZE, also autovacuum's, computes what an index is on as the owner, with any path: there public may
-- have a function that fits better than PostgreSQL's own, as one of (text, integer) would here. A path of
-- the function's own would cost more than what it does, so each name is whole. The values stay, and so
-- does the index.
CREATE OR REPLACE FUNCTION cardbox.id_key(tenant text, id text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT pg_catalog.hashtextextended(
               tenant OPERATOR(pg_catalog.||) E'\x1f'::pg_catalog.text OPERATOR(pg_catalog.||) id,
               0::pg_catalog.int8)
$$;

CREATE OR REPLACE FUNCTION cardbox.id_keys(tenant text, ids jsonb) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN (SELECT pg_catalog.array_agg(cardbox.id_key(tenant, e.id))
              FROM pg_catalog.jsonb_array_elements_text(ids) AS e(id));
END
$$;

-- A CHECK, which is computed as whoever writes.
CREATE OR REPLACE FUNCTION cardbox.is_id_list(ids jsonb) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN pg_catalog.jsonb_typeof(ids) OPERATOR(pg_catalog.=) 'array'::pg_catalog.text
       AND NOT (ids OPERATOR(pg_catalog.@?) 'strict $[*] ? (@.type() != "string")'::pg_catalog.jsonpath);
END
$$;
