-- check_id: raises 22023 (invalid_parameter_value) unless a text is an id: 1 to `most` bytes without control characters.
--   name  Name of the parameter, for the message.
CREATE OR REPLACE FUNCTION cardbox.check_id(name text, id text, most integer) RETURNS void
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    IF id IS NULL OR octet_length(id) NOT BETWEEN 1 AND most OR id ~ '[\u0001-\u001f\u007f]' THEN
        RAISE EXCEPTION '% must be 1 to % bytes without control characters', name, most
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;
