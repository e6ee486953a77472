-- is_open_end: whether these bytes, the end of a line, lack the line feed.
CREATE OR REPLACE FUNCTION cardbox.is_open_end(bytes bytea) RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
    SELECT octet_length(bytes) = 0 OR get_byte(bytes, octet_length(bytes) - 1) <> 10
$$;
