-- inner_json: returns the JSON that the text of a JSON string contains, such as {"a": 1} for "{\"a\": 1}". If the text is
-- not JSON, or is nested more than 100 levels deep, returns the string. The limit is below that for the content of a card.
CREATE OR REPLACE FUNCTION cardbox.inner_json(token json) RETURNS json
LANGUAGE plpgsql
AS $$
DECLARE
    value json;
BEGIN
    value := token #>> '{}';
    IF octet_length(value::text) - octet_length(translate(value::text, '[{', '')) > 100
       AND cardbox.readable_json(value)::jsonb @? 'strict $.**{100}' THEN
        RETURN token;
    END IF;
    RETURN value;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN token;
END
$$;
