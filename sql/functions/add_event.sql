-- add_event: adds an event to a task, and returns the number of the event. Locks the task's row, so that events get
-- consecutive numbers. The definition of the table task_events explains the parameters what, ref and how.
CREATE OR REPLACE FUNCTION cardbox.add_event(tenant text, task text, what text, ref text, how text) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    number bigint;
BEGIN
    UPDATE cardbox.tasks t
       SET events = t.events + 1,
           messages = t.messages + CASE WHEN add_event.what = 'message' THEN 1 ELSE 0 END,
           last_user = CASE WHEN add_event.what = 'message' AND add_event.how = 'user'
                            THEN t.events + 1 ELSE t.last_user END
     WHERE t.tenant_id = tenant AND t.task_id = task
    RETURNING t.events INTO number;
    INSERT INTO cardbox.task_events (tenant_id, task_id, n, what, ref, how, at)
    VALUES (tenant, task, number, add_event.what, add_event.ref, add_event.how, cardbox.now_ms());
    RETURN number;
END
$$;
