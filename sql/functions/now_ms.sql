-- now_ms: the time in Unix milliseconds.
CREATE OR REPLACE FUNCTION cardbox.now_ms() RETURNS bigint
LANGUAGE sql VOLATILE
AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;
