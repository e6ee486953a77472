-- follow_tasks: what has happened in tasks since their followers looked. The arrays are parallel.
--   known        the last event that the follower has
--   messages     the message being generated that the follower has, or NULL
--   chunks       its last chunk that the follower has
--   most         limit of events, and of chunks, of one task
--   page, whole  limits of bytes, of one task and of all; the last row begins before them
-- Standbys have no chunks, because the table task_chunks is unlogged.
CREATE OR REPLACE FUNCTION cardbox.follow_tasks(
    tenants text[], tasks text[], known bigint[], messages text[], chunks bigint[],
    most bigint, page bigint, whole bigint)
RETURNS SETOF cardbox.task_stream_row
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    follower refcursor;
    k        record;
    seen     cardbox.task_stream_row;
    room     bigint;
BEGIN
    IF pg_is_in_recovery() THEN
        OPEN follower FOR
        SELECT a.tenant_id, a.task_id, a.n, a.ord, NULL::text AS message_id, 0::bigint AS chunk
          FROM unnest(tenants, tasks, known) WITH ORDINALITY AS a(tenant_id, task_id, n, ord)
         WHERE EXISTS (SELECT FROM cardbox.task_events t
                        WHERE t.tenant_id = a.tenant_id AND t.task_id = a.task_id AND t.n > a.n);
    ELSE
        OPEN follower FOR
        SELECT a.tenant_id, a.task_id, a.n, a.ord, s.message_id,
               CASE WHEN s.message_id = a.message_id THEN a.chunk ELSE 0 END AS chunk
          FROM unnest(tenants, tasks, known, messages, chunks) WITH ORDINALITY
               AS a(tenant_id, task_id, n, message_id, chunk, ord)
          LEFT JOIN LATERAL (
               SELECT p.message_id, p.n FROM cardbox.task_chunks p
                WHERE p.tenant_id = a.tenant_id AND p.task_id = a.task_id
                ORDER BY p.message_id DESC, p.n DESC LIMIT 1) AS s ON true
         WHERE s.n > CASE WHEN s.message_id = a.message_id THEN a.chunk ELSE 0 END
            OR EXISTS (SELECT FROM cardbox.task_events t
                        WHERE t.tenant_id = a.tenant_id AND t.task_id = a.task_id AND t.n > a.n);
    END IF;
    LOOP
        FETCH follower INTO k;
        EXIT WHEN NOT FOUND;
        room := least(page, whole);
        FOR seen IN
            SELECT * FROM cardbox.follow_task(k.ord, k.tenant_id, k.task_id, k.n, k.message_id, k.chunk, most, room)
        LOOP
            whole := whole - cardbox.task_stream_row_bytes(seen);
            RETURN NEXT seen;
        END LOOP;
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.follow_tasks TO cardbox_worker;
