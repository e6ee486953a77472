-- same_json: whether two texts are the same JSON: equal texts, or equal as jsonb. A text that jsonb
-- can't hold (\u0000, half a surrogate pair, a very long number or string) is the same only as itself.
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
