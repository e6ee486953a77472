-- write_task_chunk: stores a chunk of a message that is being generated. Chunks are numbered from 1. The first chunk of
-- a message deletes the chunks of the task's other messages. Returns false if the lease is lost. The lock on the task's
-- row prevents claims and cancellations, which delete chunks, until the transaction ends.
CREATE OR REPLACE FUNCTION cardbox.write_task_chunk(
    tenant text, task text, epoch bigint, message text, n bigint, chunk json) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    PERFORM FROM cardbox.tasks t
      WHERE t.tenant_id = tenant AND t.task_id = task AND t.lease_epoch = epoch
        AND t.lease_owner IS NOT NULL FOR SHARE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF n = 1 THEN
        DELETE FROM cardbox.task_chunks k
         WHERE k.tenant_id = tenant AND k.task_id = task AND k.message_id <> message;
    END IF;
    INSERT INTO cardbox.task_chunks (tenant_id, task_id, message_id, n, piece)
    VALUES (tenant, task, message, write_task_chunk.n, chunk)
    ON CONFLICT DO NOTHING;
    RETURN true;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.write_task_chunk TO cardbox_worker;
ALTER FUNCTION cardbox.write_task_chunk OWNER TO cardbox_writer;
