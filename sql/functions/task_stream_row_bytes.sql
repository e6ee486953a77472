-- task_stream_row_bytes: returns the approximate size in bytes of a row of follow_tasks(). PostgreSQL inlines the
-- function.
CREATE OR REPLACE FUNCTION cardbox.task_stream_row_bytes(seen cardbox.task_stream_row) RETURNS bigint
LANGUAGE sql IMMUTABLE
AS $$
    SELECT 100 + coalesce(octet_length(seen.text::text), 0) + coalesce(octet_length(seen.metadata::text), 0)
           + coalesce(octet_length(seen.call::text), 0)::bigint
$$;
GRANT EXECUTE ON FUNCTION cardbox.task_stream_row_bytes TO cardbox_worker;
