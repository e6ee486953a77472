-- fork_header: the header of a fork: the source's with another id and time. Members of `most` bytes
-- or more are left out. Escapes that PostgreSQL's texts can't hold are replaced.
CREATE OR REPLACE FUNCTION cardbox.fork_header(
    old json, new_id text, source text, made timestamptz, most integer)
RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT '{"type":"session","id":' || to_json(new_id) || ',"timestamp":'
           || to_json(to_char(made AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
           || coalesce(',"parentSession":' || to_json(source), '')
           || coalesce((
               SELECT string_agg(',' || to_json(o.key) || ':' || o.value, '' ORDER BY o.place)
                 FROM json_each(cardbox.readable_line(old)) WITH ORDINALITY AS o(key, value, place)
                WHERE o.key IN ('version', 'cwd', 'provider', 'modelId', 'thinkingLevel')
                  AND octet_length(o.value::text) < most), '') || '}'
$$;
REVOKE ALL ON FUNCTION cardbox.fork_header FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.fork_header TO cardbox_service, cardbox_worker;
