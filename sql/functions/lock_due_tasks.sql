-- lock_due_tasks: locks and returns due tasks of a tenant whose `attempts` are below max_attempts, at most max_tasks. Skips
-- tasks that another transaction has locked. Part of claim_tasks(). Examines only the 1000 tasks that have been due
-- longest: if many are exhausted, each of the calls that finish them would otherwise read all of them.
CREATE OR REPLACE FUNCTION cardbox.lock_due_tasks(
    tenant text, moment timestamptz, max_attempts integer, max_tasks integer)
RETURNS SETOF cardbox.tasks
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN QUERY
        SELECT t.*
          FROM (SELECT x.task_id, x.attempts FROM cardbox.tasks x
                 WHERE x.tenant_id = tenant AND x.wake_at <= moment
                 ORDER BY x.wake_at LIMIT 1000) AS due
         CROSS JOIN LATERAL (
               SELECT * FROM cardbox.tasks l
                WHERE l.tenant_id = tenant AND l.task_id = due.task_id AND l.wake_at <= moment
                  AND l.attempts < max_attempts FOR NO KEY UPDATE SKIP LOCKED) AS t
         WHERE due.attempts < max_attempts
         LIMIT max_tasks;
END
$$;
