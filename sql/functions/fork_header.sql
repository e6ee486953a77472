-- fork_header: returns the header of a fork: a new id and time, the source's id as parentSession, and up to five
-- members of the source's header. Some programs read only the first 512 bytes of a header. If the header would have 512
-- bytes or more, the function leaves out parentSession, or else the members with values of 200 bytes or more, or else
-- both. U+FFFD replaces escapes that PostgreSQL's type text can't hold.
CREATE OR REPLACE FUNCTION cardbox.fork_header(old json, new_id text, source text, made timestamptz)
RETURNS json
LANGUAGE sql STABLE
AS $$
    SELECT h.header::json
      FROM (VALUES (1, source, 512), (2, NULL, 512), (3, source, 200), (4, NULL, 200)) AS v(choice, source, max_bytes)
     CROSS JOIN LATERAL (
        SELECT '{"type":"session","id":' || to_json(new_id) || ',"timestamp":'
               || to_json(to_char(made AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
               || coalesce(',"parentSession":' || to_json(v.source), '')
               || coalesce((
                   SELECT string_agg(',' || to_json(o.key) || ':' || o.value, '' ORDER BY o.ord)
                     FROM json_each(cardbox.readable_json(old)) WITH ORDINALITY AS o(key, value, ord)
                    WHERE o.key IN ('version', 'cwd', 'provider', 'modelId', 'thinkingLevel')
                      AND octet_length(o.value::text) < v.max_bytes), '') || '}') AS h(header)
     WHERE octet_length(h.header) < 512 OR v.choice = 4
     ORDER BY v.choice LIMIT 1
$$;
