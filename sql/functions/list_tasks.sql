-- list_tasks: returns a page of a tenant's tasks, newest first. Each row has the total number of tasks that match. If
-- the page is empty, one row with the total number and no task is returned. Every filter may be NULL.
--   active      Whether to return only active tasks.
--   status      Completion status. `failed` also selects `failed: REASON`.
--   parent      Id of the parent task.
--   made_from, made_until  Limits of created_at in Unix milliseconds, both inclusive.
--   state       `running`: an unfinished task with a lease, perhaps an expired one. `waiting`: an unfinished task
--               without a lease. `failed`: a task whose completion status is `failed` or `failed: REASON`.
--   most, skip  LIMIT and OFFSET of the page.
--
-- The query has only the filters that are given, so that PostgreSQL can use the index of a filter.
CREATE OR REPLACE FUNCTION cardbox.list_tasks(
    tenant text, active boolean, status text, parent text, made_from bigint, made_until bigint, state text,
    most bigint, skip bigint)
RETURNS TABLE (task cardbox.tasks, total bigint)
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    filters text := concat(
        't.tenant_id = $1',
        CASE WHEN active THEN ' AND t.completion_status IS NULL' END,
        CASE WHEN status <> 'failed' THEN
             ' AND t.status_start = left($2, 100) AND t.completion_status = $2' END,
        CASE WHEN parent IS NOT NULL THEN ' AND t.parent_task_id = $3' END,
        CASE WHEN made_from IS NOT NULL THEN ' AND t.created_at >= $4' END,
        CASE WHEN made_until IS NOT NULL THEN ' AND t.created_at <= $5' END,
        CASE WHEN status = 'failed' OR state = 'failed' THEN $f$ AND t.status_start >= 'failed'
             AND t.status_start < 'failed;'
             AND (t.completion_status = 'failed' OR t.completion_status LIKE 'failed:%')$f$ END,
        CASE state WHEN 'running' THEN ' AND t.completion_status IS NULL AND t.lease_owner IS NOT NULL'
                   WHEN 'waiting' THEN ' AND t.completion_status IS NULL AND t.lease_owner IS NULL' END);
BEGIN
    RETURN QUERY EXECUTE format($q$
        SELECT p.task, n.total
          FROM (SELECT count(*) AS total FROM cardbox.tasks t WHERE %1$s) AS n
          LEFT JOIN (SELECT t AS task FROM cardbox.tasks t WHERE %1$s
                      ORDER BY t.created_at DESC, t.task_id DESC LIMIT $6 OFFSET $7) AS p ON true $q$, filters)
    USING tenant, status, parent, made_from, made_until, most, skip;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.list_tasks TO cardbox_worker;
