-- starts_with_line: returns whether a line continues a truncated line.
CREATE OR REPLACE FUNCTION cardbox.starts_with_line(line bytea, broken bytea) RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
    SELECT octet_length(line) > octet_length(b.body) AND substr(line, 1, octet_length(b.body)) = b.body
      FROM cardbox.line_body(broken) AS b(body)
$$;
