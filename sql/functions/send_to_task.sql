-- send_to_task: inserts a message of role user, and wakes the task unless a worker holds it. The parameter last_read of
-- write_task() lets a worker that holds the task notice the message. The outcomes are those of save_ledger(); 9: the
-- task is finished, and no message has this id.
CREATE OR REPLACE FUNCTION cardbox.send_to_task(
    tenant text, task text, message text, content json, metadata jsonb)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    held cardbox.tasks;
    done integer;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    SELECT * INTO held FROM cardbox.tasks t
     WHERE t.tenant_id = tenant AND t.task_id = task FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 5;
    ELSIF held.completion_status IS NOT NULL AND NOT EXISTS (
            SELECT FROM cardbox.messages m WHERE m.tenant_id = tenant AND m.message_id = message) THEN
        RETURN 9;
    END IF;
    done := cardbox.save_message(tenant, message, task, 'user', content, metadata, NULL, NULL);
    IF done = 1 AND held.lease_owner IS NULL THEN
        UPDATE cardbox.tasks t SET wake_at = least(t.wake_at, clock_timestamp())
         WHERE t.tenant_id = tenant AND t.task_id = task;
    END IF;
    RETURN done;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.send_to_task TO cardbox_worker;
ALTER FUNCTION cardbox.send_to_task OWNER TO cardbox_writer;
