-- readable_json: returns JSON whose members PostgreSQL can read: escapes that the type text can't hold (\u0000, half a
-- surrogate pair) are replaced with U+FFFD.
CREATE OR REPLACE FUNCTION cardbox.readable_json(content json) RETURNS json
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN content::text !~* '\\u(0000|d[89a-f])' THEN content ELSE (
           -- tokens: an escaped surrogate pair, one escape, other text
           SELECT string_agg(CASE WHEN t[1] ~* '^\\u(0000|d[89a-f]..)$' THEN '\ufffd' ELSE t[1] END, '' ORDER BY n)
             FROM regexp_matches(content::text, '\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}'
                                 '|\\u[0-9a-fA-F]{4}|\\.|[^\\]+', 'g') WITH ORDINALITY AS m(t, n))::json END
$$;
GRANT EXECUTE ON FUNCTION cardbox.readable_json TO cardbox_worker;
