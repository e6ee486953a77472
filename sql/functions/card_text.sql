-- card_text: returns the text of a card, for SQL programs. This is the member `text` of an object, the texts of the message
-- in a MessageContent, or the content itself if it is a string. For any other content, returns NULL. `content ->> 'text'`
-- fails if a card contains \u0000 or half a surrogate pair anywhere. The function card_text() replaces such escapes with
-- U+FFFD.
CREATE OR REPLACE FUNCTION cardbox.card_text(content json) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN json_typeof(r.value) = 'string' THEN r.value #>> '{}'
                WHEN json_typeof(r.value) <> 'object' THEN NULL
                WHEN r.value ->> '__type__' = 'MessageContent' THEN cardbox.message_text(r.value -> 'message')
                ELSE r.value ->> 'text' END
      FROM cardbox.readable_json(content) AS r(value)
$$;
GRANT EXECUTE ON FUNCTION cardbox.card_text TO cardbox_worker;
