-- is_id_list: returns whether a value is a JSON array of strings, as every list of ids must be. The language is not
-- sql: PostgreSQL would parse and plan such a body in every statement that writes. All names are qualified: ANALYZE
-- runs functions of indexes with any search_path.
CREATE OR REPLACE FUNCTION cardbox.is_id_list(ids jsonb) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN pg_catalog.jsonb_typeof(ids) OPERATOR(pg_catalog.=) 'array'::pg_catalog.text
       AND NOT (ids OPERATOR(pg_catalog.@?) 'strict $[*] ? (@.type() != "string")'::pg_catalog.jsonpath);
END
$$;
