-- follow_tasks: what has happened in tasks since their followers looked. The arrays are parallel:
--   known             the last event that the follower has
--   messages, pieces  the message in production, and its last piece, that the follower has
--   most              events, and pieces, of one task
--   page, whole       bytes of one task, of all; the last row begins before this limit
-- The contents are read one by one, so that what does not fit costs nothing.
CREATE OR REPLACE FUNCTION cardbox.follow_tasks(
    tenants text[], tasks text[], known bigint[], messages text[], pieces bigint[],
    most bigint, page bigint, whole bigint)
RETURNS SETOF cardbox.task_seen
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    k      record;
    event  cardbox.task_events;
    chunk  record;
    e      cardbox.task_seen;
    room   bigint;
    bytes  bigint;
    count  bigint;
    is_cut boolean;
BEGIN
    FOR k IN SELECT * FROM cardbox.tasks_with_news(tenants, tasks, known, messages, pieces) LOOP
        room := least(page, whole);
        bytes := 0;
        count := 0;
        is_cut := false;
        FOR event IN
            SELECT * FROM cardbox.task_events t
             WHERE t.tenant_id = k.tenant_id AND t.task_id = k.task_id AND t.n > k.n ORDER BY t.n LIMIT most
        LOOP
            is_cut := bytes >= room;
            EXIT WHEN is_cut;
            e := cardbox.describe_event(k.ord, event);
            bytes := bytes + 100 + coalesce(octet_length(e.text::text), 0)
                     + coalesce(octet_length(e.metadata::text), 0) + coalesce(octet_length(e.call::text), 0);
            count := count + 1;
            RETURN NEXT e;
        END LOOP;
        is_cut := is_cut OR count >= most;
        count := 0;
        -- Else there is none here, or the message that these belong to may be among the events to come.
        IF k.message_id IS NOT NULL AND NOT is_cut THEN
            FOR chunk IN
                SELECT p.n, p.piece FROM cardbox.task_chunks p
                 WHERE p.tenant_id = k.tenant_id AND p.task_id = k.task_id
                   AND p.message_id = k.message_id AND p.n > k.piece
                 ORDER BY p.n LIMIT most
            LOOP
                is_cut := bytes >= room;
                EXIT WHEN is_cut;
                e := (k.ord, chunk.n, 'chunk', k.message_id, NULL, 0, chunk.piece, NULL, NULL);
                bytes := bytes + 100 + octet_length(e.text::text);
                count := count + 1;
                RETURN NEXT e;
            END LOOP;
        END IF;
        IF is_cut OR count >= most THEN
            e := (k.ord, 0, 'more', NULL, NULL, 0, NULL, NULL, NULL);
            RETURN NEXT e;
        END IF;
        whole := whole - bytes;
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION cardbox.follow_tasks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.follow_tasks TO cardbox_service, cardbox_worker;
