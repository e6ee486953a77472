-- same_json: returns whether two texts are the same JSON: equal texts, or texts with equal jsonb values. Some texts are
-- not valid jsonb, for example with \u0000 or half a surrogate pair. Then an escape \uXXXX equals only the same escape,
-- but the order of members does not matter. With a very long number or string, only an equal text is the same JSON.
CREATE OR REPLACE FUNCTION cardbox.same_json(a json, b json) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    IF a::text = b::text THEN
        RETURN true;
    END IF;
    BEGIN
        RETURN a::jsonb = b::jsonb;
    EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
        NULL;
    END;
    BEGIN
        -- an escape becomes the text \uXXXX, and each backslash of a text is doubled, so that no two texts become equal
        RETURN (SELECT count(DISTINCT replace(replace(replace(
                       t.value, '\\', E'\x01'), '\u', '\\u'), E'\x01', '\\\\')::jsonb) = 1
                  FROM unnest(ARRAY[a::text, b::text]) AS t(value));
    EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
        RETURN false;
    END;
END
$$;
