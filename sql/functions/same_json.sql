-- same_json: whether two texts are the same JSON. A text that jsonb can't hold (\u0000, half a
-- surrogate pair) is the same only as itself.
CREATE OR REPLACE FUNCTION cardbox.same_json(a json, b json) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN a::text = b::text OR a::jsonb = b::jsonb;
EXCEPTION WHEN data_exception THEN
    RETURN false;
END
$$;
REVOKE ALL ON FUNCTION cardbox.same_json FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.same_json TO cardbox_service, cardbox_worker;
