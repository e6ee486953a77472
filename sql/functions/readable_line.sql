-- readable_line: a line that PostgreSQL can take apart: escapes that its texts can't hold (a NUL,
-- half a surrogate pair) are replaced, if there are any.
CREATE OR REPLACE FUNCTION cardbox.readable_line(raw json) RETURNS json
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    PERFORM raw -> '';
    RETURN raw;
EXCEPTION WHEN data_exception THEN
    RETURN regexp_replace(raw::text, '(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})',
                          '\1\\ufffd', 'g');
END
$$;
