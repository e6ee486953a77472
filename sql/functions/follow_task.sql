-- follow_task: returns the events of a task after the event after_event, then the chunks of `message` after the chunk
-- after_chunk. Part of follow_tasks().
--   message    Message that is being generated; NULL: none.
--   max_rows   Maximum number of events, and maximum number of chunks.
--   max_bytes  No event or chunk is added once the rows have this size, so the last one may exceed it.
--
-- If a limit may have cut the result, the last row has 'more' in the column `what`. The content of each row is read
-- separately, so that contents beyond the limit are not read. The details of a call are sent only with an event whose
-- status is the call's current status.
CREATE OR REPLACE FUNCTION cardbox.follow_task(
    ord bigint, tenant text, task text, after_event bigint, message text, after_chunk bigint,
    max_rows bigint, max_bytes bigint)
RETURNS SETOF cardbox.task_stream_row
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    one    cardbox.task_stream_row;
    bytes  bigint := 0;
    count  bigint := 0;
    stored record;
    is_cut boolean := false;
BEGIN
    FOR stored IN
        SELECT t.n, t.what, t.ref, t.how, t.at FROM cardbox.task_events t
         WHERE t.tenant_id = tenant AND t.task_id = task AND t.n > after_event AND t.n <= 9223372036854775807
         ORDER BY t.n LIMIT max_rows
    LOOP
        is_cut := bytes >= max_bytes;
        EXIT WHEN is_cut;
        one := (ord, stored.n, stored.what, stored.ref, stored.how, stored.at, NULL, NULL, NULL);
        IF stored.what = 'message' THEN
            SELECT m.ts, c.content, c.metadata INTO one.at, one.text, one.metadata
              FROM cardbox.messages m
              JOIN cardbox.cards c ON c.tenant_id = tenant AND c.card_id = m.message_id
             WHERE m.tenant_id = tenant AND m.message_id = stored.ref;
        ELSIF stored.what = 'call' THEN
            SELECT json_build_object('abilityName', c.ability_name, 'createdAt', c.created_at,
                                     'updatedAt', c.updated_at, 'parameters', c.parameters, 'details',
                                     CASE WHEN c.status = stored.how THEN c.details ELSE '"{}"' END)
              INTO one.call FROM cardbox.calls c
             WHERE c.tenant_id = tenant AND c.call_id = stored.ref;
        ELSIF stored.what = 'completed' AND stored.how = 'cancelled' THEN
            SELECT t.cancel_reason INTO one.text FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.task_id = task;
        END IF;
        bytes := bytes + cardbox.task_stream_row_bytes(one);
        count := count + 1;
        RETURN NEXT one;
    END LOOP;
    is_cut := is_cut OR count >= max_rows;
    count := 0;
    -- If the events reach a limit, no chunks are returned: one of the remaining events may be the stored message,
    -- which replaces the chunks.
    IF message IS NOT NULL AND NOT is_cut THEN
        FOR stored IN
            SELECT p.n, p.piece FROM cardbox.task_chunks p
             WHERE p.tenant_id = tenant AND p.task_id = task AND p.message_id = message AND p.n > after_chunk
             ORDER BY p.n LIMIT max_rows
        LOOP
            is_cut := bytes >= max_bytes;
            EXIT WHEN is_cut;
            one := (ord, stored.n, 'chunk', message, NULL, 0, stored.piece, NULL, NULL);
            bytes := bytes + cardbox.task_stream_row_bytes(one);
            count := count + 1;
            RETURN NEXT one;
        END LOOP;
    END IF;
    IF is_cut OR count >= max_rows THEN
        one := (ord, 0, 'more', NULL, NULL, 0, NULL, NULL, NULL);
        RETURN NEXT one;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.follow_task TO cardbox_worker;
