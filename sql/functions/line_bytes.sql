-- line_bytes: the bytes of a line. `content` NULL: the line is no entry and no header, and all of
-- it is in `before`. `after` NULL: a line feed.
CREATE OR REPLACE FUNCTION cardbox.line_bytes(before bytea, content json, after bytea) RETURNS bytea
LANGUAGE sql STABLE
AS $$
    SELECT coalesce(before, '') || CASE WHEN content IS NULL THEN ''
           ELSE convert_to(content::text, 'UTF8') || coalesce(after, '\x0a') END
$$;
