-- card_text: returns the text of a card, for SQL programs: the member `text` of an object, or the content itself if it
-- is a string. For any other content, and for an object without this member, returns NULL. `content ->> 'text'` fails
-- if a card contains \u0000 or half a surrogate pair anywhere. The function card_text() replaces such escapes with
-- U+FFFD.
CREATE OR REPLACE FUNCTION cardbox.card_text(content json) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE json_typeof(r.value) WHEN 'object' THEN r.value ->> 'text' WHEN 'string' THEN r.value #>> '{}' END
      FROM cardbox.readable_json(content) AS r(value)
$$;
GRANT EXECUTE ON FUNCTION cardbox.card_text TO cardbox_worker;
