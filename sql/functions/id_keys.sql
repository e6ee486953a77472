-- id_keys: returns the keys of all ids of a segment, for the GIN index of segments: see id_key(). The language is not
-- sql, because PostgreSQL would parse and plan an SQL body in every statement that writes to the index.
CREATE OR REPLACE FUNCTION cardbox.id_keys(tenant text, ids jsonb) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN (SELECT pg_catalog.array_agg(cardbox.id_key(tenant, e.id))
              FROM pg_catalog.jsonb_array_elements_text(ids) AS e(id));
END
$$;
