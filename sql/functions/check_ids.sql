-- check_ids: raises 22023 (invalid_parameter_value) unless ids is a JSON array of strings.
CREATE OR REPLACE FUNCTION cardbox.check_ids(ids jsonb) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF ids IS NULL OR NOT cardbox.is_id_list(ids) THEN
        RAISE EXCEPTION 'ids must be an array of strings' USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;
