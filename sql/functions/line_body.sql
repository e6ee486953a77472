-- line_body: returns a line without the line feed at its end. If the line before it lacked a line feed, the stored
-- line begins with that line feed, which is removed too.
CREATE OR REPLACE FUNCTION cardbox.line_body(bytes bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE WHEN cardbox.is_open_end(b.bytes) THEN b.bytes
                ELSE substr(b.bytes, 1, octet_length(b.bytes) - 1) END
      FROM (SELECT CASE WHEN octet_length(line_body.bytes) > 1 AND substr(line_body.bytes, 1, 1) = '\x0a'
                        THEN substr(line_body.bytes, 2) ELSE line_body.bytes END) AS b(bytes)
$$;
