-- card_text: the text of a card for SQL programs: the member `text` of an object, or a content that
-- is a string; NULL if it has none. `content ->> 'text'` fails for a card that holds \u0000 or half
-- a surrogate pair anywhere. Here these become U+FFFD.
CREATE OR REPLACE FUNCTION cardbox.card_text(content json) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE json_typeof(s.safe) WHEN 'object' THEN s.safe ->> 'text'
                                    WHEN 'string' THEN s.safe #>> '{}' END
      FROM (SELECT CASE WHEN content::text !~* '\\u(0000|d[89a-f])' THEN content ELSE (
                        -- the tokens: an escaped pair, one escape, any other text
                        SELECT string_agg(CASE WHEN t[1] ~* '^\\u(0000|d[89a-f]..)$' THEN '\ufffd' ELSE t[1] END,
                                          '' ORDER BY n)
                          FROM regexp_matches(content::text, '\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}'
                                              '|\\u[0-9a-fA-F]{4}|\\.|[^\\]+', 'g') WITH ORDINALITY AS m(t, n))::json
                   END AS safe) AS s
$$;
GRANT EXECUTE ON FUNCTION cardbox.card_text TO cardbox_worker;
