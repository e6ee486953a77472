-- same_json: returns whether two texts are the same JSON: equal texts, or texts with equal jsonb values. Some texts are
-- not valid jsonb, for example with \u0000, half a surrogate pair, or a very long number or string. Only an equal text
-- is the same JSON as such a text.
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
        RETURN false;
    END;
END
$$;
