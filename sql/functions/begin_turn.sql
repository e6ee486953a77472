-- begin_turn: prepares a turn of a worker that holds a task: appends the messages and results that have arrived to the
-- task's box. A task without a box gets one.
--   new_box  Id of the box that a task without a box gets.
--
-- Outcomes: 1 done; 3 the task's box was deleted; 8 the lease is lost, and nothing was written; 14 the context box does
-- not exist. Others are those of append_ids(), such as that of a sealed box.
--   version      Version of the box. `context_version` is that of the context box.
--   context      The context box. NULL: none, or it is the task's box, which is not read twice.
--   last_read    Number of the task's last event, for the parameter last_read of write_task().
--   has_message  Whether this call has appended a message of role user.
CREATE OR REPLACE FUNCTION cardbox.begin_turn(
    tenant text, task text, epoch bigint, new_box uuid, OUT outcome integer, OUT box uuid, OUT version bigint,
    OUT context uuid, OUT context_version bigint, OUT last_read bigint, OUT router boolean, OUT has_message boolean)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    held cardbox.tasks;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    SELECT * INTO held FROM cardbox.tasks t
     WHERE t.tenant_id = tenant AND t.task_id = task FOR NO KEY UPDATE;
    IF held.lease_epoch IS DISTINCT FROM epoch OR held.lease_owner IS NULL THEN
        outcome := 8;
        RETURN;
    END IF;
    IF held.box_id IS NULL THEN
        PERFORM cardbox.create_box(tenant, new_box, '[]', '[]', NULL, true);
        UPDATE cardbox.tasks t SET box_id = new_box WHERE t.tenant_id = tenant AND t.task_id = task;
    END IF;
    SELECT f.outcome, f.version, f.has_message INTO outcome, version, has_message
      FROM cardbox.fill_task_box(tenant, task, true) AS f;
    box := coalesce(held.box_id, new_box);
    context := nullif(held.context_box_id, box);
    last_read := held.events;
    router := held.router;
    SELECT b.version INTO context_version FROM cardbox.card_boxes b
     WHERE b.tenant_id = tenant AND b.box_id = context AND b.deleted_at IS NULL;
    IF outcome = 1 AND context IS NOT NULL AND context_version IS NULL THEN
        outcome := 14;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.begin_turn TO cardbox_worker;
ALTER FUNCTION cardbox.begin_turn OWNER TO cardbox_writer;
