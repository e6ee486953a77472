-- begin_turn: prepares a turn of a worker that holds a task: appends the task's messages and results to its box. Then the
-- box contains the messages for the model. A task without a box gets one.
--   new_box  Id of the box that a task without a box gets.
--
-- Outcomes: 1 done; 3 the task's box was deleted; 8 the lease is lost, and nothing was written; 14 the context box does
-- not exist. Others are those of append_to_box(), such as that of a sealed box.
--   version      Version of the box. `context_version` is that of the context box.
--   last_read    Number of the task's last event, for the parameter last_read of write_task().
--   is_asked     Whether the model has to answer a user's message or the result of a call.
--   has_message  Whether this call has appended a message of role user.
CREATE OR REPLACE FUNCTION cardbox.begin_turn(
    tenant text, task text, epoch bigint, new_box uuid, OUT outcome integer, OUT box uuid, OUT version bigint,
    OUT context uuid, OUT context_version bigint, OUT last_read bigint, OUT is_asked boolean, OUT router boolean,
    OUT has_message boolean)
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
      FROM cardbox.fill_task_box(tenant, task, NULL) AS f;
    SELECT t.box_id, t.context_box_id, t.events, t.is_asked, t.router INTO box, context, last_read, is_asked, router
      FROM cardbox.tasks t WHERE t.tenant_id = tenant AND t.task_id = task;
    SELECT b.version INTO context_version FROM cardbox.card_boxes b
     WHERE b.tenant_id = tenant AND b.box_id = context AND b.deleted_at IS NULL;
    IF outcome = 1 AND context IS NOT NULL AND context_version IS NULL THEN
        outcome := 14;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.begin_turn TO cardbox_worker;
ALTER FUNCTION cardbox.begin_turn OWNER TO cardbox_writer;
