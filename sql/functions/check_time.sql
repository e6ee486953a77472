-- check_time: raises 22023 (invalid_parameter_value) if a time is infinite. NULL is allowed.
CREATE OR REPLACE FUNCTION cardbox.check_time(moment timestamptz) RETURNS void
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    IF NOT isfinite(moment) THEN
        RAISE EXCEPTION 'a time must be finite' USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;
