-- line_bytes: returns the bytes of a line. If `content` is NULL, `before` has the whole line. If `content` is not NULL
-- and `after` is NULL, a line feed follows the content.
CREATE OR REPLACE FUNCTION cardbox.line_bytes(before bytea, content json, after bytea) RETURNS bytea
LANGUAGE sql STABLE
AS $$
    SELECT coalesce(before, '') || CASE WHEN content IS NULL THEN ''
           ELSE convert_to(content::text, 'UTF8') || coalesce(after, '\x0a') END
$$;
