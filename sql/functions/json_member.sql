-- json_member: returns a member of a JSON object with its bytes, NULL: there is none. The operator -> fails if the object
-- contains \u0000 or half a surrogate pair anywhere. Then the function doubles the backslash of each \u, and each escaped
-- backslash, so that no escape is decoded, and undoes that in the member.
CREATE OR REPLACE FUNCTION cardbox.json_member(content json, name text) RETURNS json
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    RETURN content -> name;
EXCEPTION WHEN data_exception THEN
    RETURN replace(replace(replace((
               replace(replace(replace(content::text, '\\', E'\x01'), '\u', '\\u'), E'\x01', '\\\\')::json -> name)::text,
               '\\\\', E'\x01'), '\\u', '\u'), E'\x01', '\\')::json;
END
$$;
