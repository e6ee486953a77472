-- is_open_end: returns whether a line has no line feed at its end.
CREATE OR REPLACE FUNCTION cardbox.is_open_end(bytes bytea) RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
    SELECT octet_length(bytes) = 0 OR get_byte(bytes, octet_length(bytes) - 1) <> 10
$$;
