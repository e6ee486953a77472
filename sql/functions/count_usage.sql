-- count_usage: counts the numbers of tokens of lines that the same statement has written to a session. The parameters
-- are those of add_usage(). Returns 1.
CREATE OR REPLACE FUNCTION cardbox.count_usage(tenant text, session text, outcomes text[], used jsonb)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    IF (octet_length(session) BETWEEN 1 AND 512 AND outcomes IS NOT NULL AND jsonb_typeof(used) = 'array') IS NOT TRUE THEN
        RAISE EXCEPTION 'the usage is not valid' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM cardbox.add_usage(tenant, 'session', session, used, outcomes);
    RETURN 1;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.count_usage TO cardbox_worker;
ALTER FUNCTION cardbox.count_usage OWNER TO cardbox_writer;
