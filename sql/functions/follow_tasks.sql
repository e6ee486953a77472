-- follow_tasks: returns the new events and chunks of tasks. The arrays are parallel: one element for each follower, a
-- task stream that reads one task.
--   after_events  Number of the last event that the follower has.
--   messages      Id of the message whose chunks the follower has, or NULL.
--   after_chunks  Number of the last chunk of this message that the follower has.
--   max_rows      Maximum number of events for each follower, and maximum number of chunks.
--   task_bytes    Limit for the bytes in the rows of one follower. The last event or chunk may exceed it.
--   all_bytes     Limit for the bytes in all rows. The last event or chunk may exceed it.
--
-- Standbys have no chunks, because the table task_chunks is unlogged.
CREATE OR REPLACE FUNCTION cardbox.follow_tasks(
    tenants text[], tasks text[], after_events bigint[], messages text[], after_chunks bigint[],
    max_rows bigint, task_bytes bigint, all_bytes bigint)
RETURNS SETOF cardbox.task_stream_row
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    follower refcursor;
    k        record;
    one      cardbox.task_stream_row;
BEGIN
    IF pg_is_in_recovery() THEN
        OPEN follower FOR
        SELECT a.tenant_id, a.task_id, a.n, a.ord, NULL::text AS message_id, 0::bigint AS chunk
          FROM unnest(tenants, tasks, after_events) WITH ORDINALITY AS a(tenant_id, task_id, n, ord)
         WHERE EXISTS (SELECT FROM cardbox.task_events t
                        WHERE t.tenant_id = a.tenant_id AND t.task_id = a.task_id AND t.n > a.n);
    ELSE
        OPEN follower FOR
        SELECT a.tenant_id, a.task_id, a.n, a.ord, s.message_id,
               CASE WHEN s.message_id = a.message_id THEN a.chunk ELSE 0 END AS chunk
          FROM unnest(tenants, tasks, after_events, messages, after_chunks) WITH ORDINALITY
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
        FOR one IN
            SELECT * FROM cardbox.follow_task(k.ord, k.tenant_id, k.task_id, k.n, k.message_id, k.chunk, max_rows,
                                              least(task_bytes, all_bytes))
        LOOP
            all_bytes := all_bytes - cardbox.task_stream_row_bytes(one);
            RETURN NEXT one;
        END LOOP;
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.follow_tasks TO cardbox_worker;
