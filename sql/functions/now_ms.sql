-- now_ms: returns the current time in Unix milliseconds.
CREATE OR REPLACE FUNCTION cardbox.now_ms() RETURNS bigint
LANGUAGE sql VOLATILE
AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;
