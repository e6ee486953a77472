-- finish_task: finishes a task with a completion status, and ends its open calls as failed. The outcomes are those of
-- stop_task().
CREATE OR REPLACE FUNCTION cardbox.finish_task(tenant text, task text, status text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    IF coalesce(octet_length(status), 0) NOT BETWEEN 1 AND 65536 OR status = 'null'
       OR status ~ '[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f]' THEN
        RAISE EXCEPTION 'a finished task needs a completion status of 1 to 65536 bytes, which is not "null" and has no '
                        'control characters except tabs and line ends' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN cardbox.stop_task(tenant, task, status, 'Task ended', NULL);
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.finish_task TO cardbox_worker;
ALTER FUNCTION cardbox.finish_task OWNER TO cardbox_writer;
