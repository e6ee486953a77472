-- message_text: returns the text of a message of a model's API: its content, or the texts of the blocks of its content,
-- one a line. NULL: the message has no text. `message` is JSON that readable_json() returned.
CREATE OR REPLACE FUNCTION cardbox.message_text(message json) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE json_typeof(message -> 'content')
           WHEN 'string' THEN message ->> 'content'
           WHEN 'array' THEN (SELECT string_agg(b.value ->> 'text', E'\n' ORDER BY b.ord)
                                FROM json_array_elements(message -> 'content') WITH ORDINALITY AS b(value, ord)
                               WHERE json_typeof(b.value) = 'object') END
$$;
GRANT EXECUTE ON FUNCTION cardbox.message_text TO cardbox_worker;
