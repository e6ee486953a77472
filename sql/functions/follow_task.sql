-- follow_task: part of follow_tasks(): the events of one task after event `known`, and the chunks of
-- `message` after chunk `chunk`. `message` is NULL if none is being generated. `room` is in bytes.
-- The contents are read one by one, so that those that do not fit cost nothing. Details of a call are
-- sent with the event of its present status only.
CREATE OR REPLACE FUNCTION cardbox.follow_task(
    ord bigint, tenant text, task text, known bigint, message text, chunk bigint, most bigint, room bigint)
RETURNS SETOF cardbox.task_stream_row
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    seen   cardbox.task_stream_row;
    bytes  bigint := 0;
    count  bigint := 0;
    v      record;
    is_cut boolean := false;
BEGIN
    FOR v IN
        SELECT t.n, t.what, t.ref, t.how, t.at FROM cardbox.task_events t
         WHERE t.tenant_id = tenant AND t.task_id = task AND t.n > known AND t.n <= 9223372036854775807
         ORDER BY t.n LIMIT most
    LOOP
        is_cut := bytes >= room;
        EXIT WHEN is_cut;
        seen := (ord, v.n, v.what, v.ref, v.how, v.at, NULL, NULL, NULL);
        IF v.what = 'message' THEN
            SELECT m.ts, c.content, c.metadata INTO seen.at, seen.text, seen.metadata
              FROM cardbox.messages m
              JOIN cardbox.cards c ON c.tenant_id = tenant AND c.card_id = m.message_id
             WHERE m.tenant_id = tenant AND m.message_id = v.ref;
        ELSIF v.what = 'call' THEN
            SELECT json_build_object('abilityName', c.ability_name, 'parameters', c.parameters, 'details',
                                     CASE WHEN c.status = v.how THEN c.details ELSE '"{}"' END)
              INTO seen.call FROM cardbox.calls c
             WHERE c.tenant_id = tenant AND c.call_id = v.ref;
        ELSIF v.what = 'completed' AND v.how = 'cancelled' THEN
            SELECT t.cancel_reason INTO seen.text FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.task_id = task;
        END IF;
        bytes := bytes + cardbox.task_stream_row_bytes(seen);
        count := count + 1;
        RETURN NEXT seen;
    END LOOP;
    is_cut := is_cut OR count >= most;
    count := 0;
    -- If the events are cut, the message of the chunks may be among those to come.
    IF message IS NOT NULL AND NOT is_cut THEN
        FOR v IN
            SELECT p.n, p.piece FROM cardbox.task_chunks p
             WHERE p.tenant_id = tenant AND p.task_id = task AND p.message_id = message AND p.n > chunk
             ORDER BY p.n LIMIT most
        LOOP
            is_cut := bytes >= room;
            EXIT WHEN is_cut;
            seen := (ord, v.n, 'chunk', message, NULL, 0, v.piece, NULL, NULL);
            bytes := bytes + cardbox.task_stream_row_bytes(seen);
            count := count + 1;
            RETURN NEXT seen;
        END LOOP;
    END IF;
    IF is_cut OR count >= most THEN
        seen := (ord, 0, 'more', NULL, NULL, 0, NULL, NULL, NULL);
        RETURN NEXT seen;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.follow_task TO cardbox_worker;
