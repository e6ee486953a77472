-- is_id_list: returns whether a value is a JSON array of strings, as every list of ids must be. The language is not
-- sql, because PostgreSQL would parse and plan an SQL body in every statement that writes to a table with such a list.
-- All names have their schema, because a CHECK constraint is evaluated with the search_path of any session.
CREATE OR REPLACE FUNCTION cardbox.is_id_list(ids jsonb) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN pg_catalog.jsonb_typeof(ids) OPERATOR(pg_catalog.=) 'array'::pg_catalog.text
       AND NOT (ids OPERATOR(pg_catalog.@?) 'strict $[*] ? (@.type() != "string")'::pg_catalog.jsonpath);
END
$$;
