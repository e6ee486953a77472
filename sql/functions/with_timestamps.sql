-- with_timestamps: returns the JSON of entries, with an additional first member `timestamp` for each time that is not
-- NULL. The dialect pi has times as text in UTC, any other dialect has numbers.
--   contents  JSON of the entries, objects.
--   times     For each entry: milliseconds since 1970, or NULL.
CREATE OR REPLACE FUNCTION cardbox.with_timestamps(dialect text, contents json[], times bigint[]) RETURNS json[]
LANGUAGE sql STABLE
AS $$
    SELECT array_agg(CASE WHEN u.ms IS NULL THEN u.content ELSE (
               '{"timestamp":' || CASE WHEN dialect = 'pi'
                   THEN to_json(to_char(to_timestamp(u.ms / 1000.0) AT TIME ZONE 'UTC',
                                        'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text
                   ELSE u.ms::text END || ',' || substr(u.content::text, 2))::json END ORDER BY u.i)
      FROM unnest(contents, times) WITH ORDINALITY AS u(content, ms, i)
$$;
