-- lock_tasks: locks the tasks with these ids that exist. The locks are acquired in the order of the ids, so that two
-- calls of the function do not deadlock with each other.
CREATE OR REPLACE FUNCTION cardbox.lock_tasks(tenant text, ids text[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM FROM (SELECT DISTINCT u.id COLLATE "C" AS id FROM unnest(ids) AS u(id) ORDER BY 1) AS k
      CROSS JOIN LATERAL (
            SELECT FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.task_id = k.id FOR NO KEY UPDATE) AS t;
END
$$;
