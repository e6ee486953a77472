-- tasks_with_news: part of follow_tasks(): the followed tasks in which something has happened, with the message in
-- production and its last chunk that the follower has. Standbys have no chunks: their table is unlogged.
CREATE OR REPLACE FUNCTION cardbox.tasks_with_news(
    tenants text[], tasks text[], known bigint[], messages text[], pieces bigint[])
RETURNS TABLE (tenant_id text, task_id text, n bigint, ord bigint, message_id text, piece bigint)
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    IF pg_is_in_recovery() THEN
        RETURN QUERY
        SELECT a.tenant_id, a.task_id, a.n, a.ord, NULL::text, 0::bigint
          FROM unnest(tenants, tasks, known) WITH ORDINALITY AS a(tenant_id, task_id, n, ord)
         WHERE EXISTS (SELECT FROM cardbox.task_events t
                        WHERE t.tenant_id = a.tenant_id AND t.task_id = a.task_id AND t.n > a.n);
        RETURN;
    END IF;
    RETURN QUERY
    SELECT a.tenant_id, a.task_id, a.n, a.ord, s.message_id, CASE WHEN s.message_id = a.message_id THEN a.piece ELSE 0 END
      FROM unnest(tenants, tasks, known, messages, pieces) WITH ORDINALITY
           AS a(tenant_id, task_id, n, message_id, piece, ord)
      LEFT JOIN LATERAL (
           SELECT p.message_id, p.n FROM cardbox.task_chunks p
            WHERE p.tenant_id = a.tenant_id AND p.task_id = a.task_id
            ORDER BY p.message_id DESC, p.n DESC LIMIT 1) AS s ON true
     WHERE s.n > CASE WHEN s.message_id = a.message_id THEN a.piece ELSE 0 END
        OR EXISTS (SELECT FROM cardbox.task_events t
                    WHERE t.tenant_id = a.tenant_id AND t.task_id = a.task_id AND t.n > a.n);
END
$$;
REVOKE ALL ON FUNCTION cardbox.tasks_with_news FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.tasks_with_news TO cardbox_service, cardbox_worker;
