-- card_text: returns the text of a card, for SQL programs. This is the member `text` of an object, or the content
-- itself if it is a string, else NULL. `content ->> 'text'` fails if a card contains \u0000 or half a surrogate
-- pair anywhere. This function replaces them with U+FFFD.
CREATE OR REPLACE FUNCTION cardbox.card_text(content json) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE json_typeof(r.json) WHEN 'object' THEN r.json ->> 'text' WHEN 'string' THEN r.json #>> '{}' END
      FROM cardbox.readable_json(content) AS r(json)
$$;
GRANT EXECUTE ON FUNCTION cardbox.card_text TO cardbox_worker;
