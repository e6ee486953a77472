-- check_nesting: raises 22023 (invalid_parameter_value) if JSON has more than 128 levels of nested arrays and objects,
-- the limit of the SDK and of imports (CARDBOX_JSON_DEPTH_MAX). NULL is allowed.
--   name   Name of the parameter, for the message.
--   value  The JSON.
CREATE OR REPLACE FUNCTION cardbox.check_nesting(name text, value text) RETURNS void
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
    brackets text;
BEGIN
    IF length(value) - length(translate(value, '[{', '')) <= 128 THEN
        RETURN;
    END IF;
    -- Each round removes the innermost level.
    brackets := translate(regexp_replace(value, '"(\\.|[^"\\])*"|[^][{}"]+', '', 'g'), '{}', '[]');
    FOR level IN 1 .. 128 LOOP
        brackets := replace(brackets, '[]', '');
    END LOOP;
    IF brackets <> '' THEN
        RAISE EXCEPTION '% has more than 128 levels of nested arrays and objects', name
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;
