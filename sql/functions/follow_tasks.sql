-- follow_tasks: what has happened in tasks since their followers looked. The arrays are parallel:
--   known             the last event that the follower has
--   messages, pieces  the message in production, and its last piece, that the follower has
--   most              events, and pieces, of one task
--   page, whole       bytes of one task, of all; the last row begins before this limit
-- The contents are read one by one, so that what does not fit costs nothing. Details of a call are
-- sent with the event of its present status only. Standbys have no pieces: task_chunks is unlogged.
CREATE OR REPLACE FUNCTION cardbox.follow_tasks(
    tenants text[], tasks text[], known bigint[], messages text[], pieces bigint[],
    most bigint, page bigint, whole bigint)
RETURNS SETOF cardbox.task_seen
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    whom   refcursor;
    k      record;
    v      record;
    e      cardbox.task_seen;
    room  bigint;
    bytes  bigint;
    count  bigint;
    is_cut boolean;
BEGIN
    IF pg_is_in_recovery() THEN
        OPEN whom FOR
        SELECT a.tenant_id, a.task_id, a.n, a.ord, NULL::text AS message_id, 0::bigint AS piece
          FROM unnest(tenants, tasks, known) WITH ORDINALITY AS a(tenant_id, task_id, n, ord)
         WHERE EXISTS (SELECT FROM cardbox.task_events t
                        WHERE t.tenant_id = a.tenant_id AND t.task_id = a.task_id AND t.n > a.n);
    ELSE
        OPEN whom FOR
        SELECT a.tenant_id, a.task_id, a.n, a.ord, s.message_id,
               CASE WHEN s.message_id = a.message_id THEN a.piece ELSE 0 END AS piece
          FROM unnest(tenants, tasks, known, messages, pieces) WITH ORDINALITY
               AS a(tenant_id, task_id, n, message_id, piece, ord)
          LEFT JOIN LATERAL (
               SELECT p.message_id, p.n FROM cardbox.task_chunks p
                WHERE p.tenant_id = a.tenant_id AND p.task_id = a.task_id
                ORDER BY p.message_id DESC, p.n DESC LIMIT 1) AS s ON true
         WHERE s.n > CASE WHEN s.message_id = a.message_id THEN a.piece ELSE 0 END
            OR EXISTS (SELECT FROM cardbox.task_events t
                        WHERE t.tenant_id = a.tenant_id AND t.task_id = a.task_id AND t.n > a.n);
    END IF;
    LOOP
        FETCH whom INTO k;
        EXIT WHEN NOT FOUND;
        room := least(page, whole);
        bytes := 0;
        count := 0;
        is_cut := false;
        FOR v IN
            SELECT t.n, t.what, t.ref, t.how, t.at FROM cardbox.task_events t
             WHERE t.tenant_id = k.tenant_id AND t.task_id = k.task_id AND t.n > k.n AND t.n <= 9223372036854775807
             ORDER BY t.n LIMIT most
        LOOP
            is_cut := bytes >= room;
            EXIT WHEN is_cut;
            e := (k.ord, v.n, v.what, v.ref, v.how, v.at, NULL, NULL, NULL);
            IF e.what = 'message' THEN
                SELECT m.ts, c.content, c.metadata INTO e.at, e.text, e.metadata
                  FROM cardbox.messages m
                  JOIN cardbox.cards c ON c.tenant_id = k.tenant_id AND c.card_id = m.message_id
                 WHERE m.tenant_id = k.tenant_id AND m.message_id = v.ref;
            ELSIF e.what = 'call' THEN
                SELECT json_build_object('abilityName', c.ability_name, 'parameters', c.parameters, 'details',
                                         CASE WHEN c.status = v.how THEN c.details ELSE '"{}"' END)
                  INTO e.call FROM cardbox.calls c
                 WHERE c.tenant_id = k.tenant_id AND c.call_id = v.ref;
            ELSIF e.what = 'completed' AND e.how = 'cancelled' THEN
                SELECT t.cancel_reason INTO e.text FROM cardbox.tasks t
                 WHERE t.tenant_id = k.tenant_id AND t.task_id = k.task_id;
            END IF;
            bytes := bytes + 100 + coalesce(octet_length(e.text::text), 0)
                     + coalesce(octet_length(e.metadata::text), 0) + coalesce(octet_length(e.call::text), 0);
            count := count + 1;
            RETURN NEXT e;
        END LOOP;
        is_cut := is_cut OR count >= most;
        count := 0;
        -- Else there is none here, or the message that these belong to may be among the events to come.
        IF k.message_id IS NOT NULL AND NOT is_cut THEN
            FOR v IN
                SELECT p.n, p.piece FROM cardbox.task_chunks p
                 WHERE p.tenant_id = k.tenant_id AND p.task_id = k.task_id
                   AND p.message_id = k.message_id AND p.n > k.piece
                 ORDER BY p.n LIMIT most
            LOOP
                is_cut := bytes >= room;
                EXIT WHEN is_cut;
                e := (k.ord, v.n, 'chunk', k.message_id, NULL, 0, v.piece, NULL, NULL);
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
