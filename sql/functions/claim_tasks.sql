-- claim_tasks: claims up to max_tasks tasks. First each tenant with due tasks gets at most an equal share of max_tasks,
-- so that a tenant with many tasks does not starve the others. If fewer tasks than max_tasks are claimed, the function
-- then claims further due tasks of any of these tenants.
--   max_attempts  If the column attempts of a task has reached this number, the task is not claimed, but finished as
--                 failed: the row of the task has the outcome 12. A call finishes at most one task, before it claims
--                 others, so that it locks few tasks for long: see give_up_task(). While a tenant has more than 1000
--                 such tasks, its tasks that became due later wait.
--   take_over     Whether to claim, before all others, the tasks that `owner` already holds: for a worker that was
--                 restarted.
CREATE OR REPLACE FUNCTION cardbox.claim_tasks(
    tenants text[], owner text, lease_ms bigint, max_tasks integer, max_attempts integer, take_over boolean)
RETURNS SETOF cardbox.claimed_task
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment     CONSTANT timestamptz := clock_timestamp();
    served     text[];
    share      integer;
    tenant     text;
    task       cardbox.tasks;
    tasks_left integer := max_tasks;
    claimed    cardbox.claimed_task;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(tenants);
    END IF;
    IF owner IS NULL OR max_tasks IS NULL OR max_tasks < 1 OR max_attempts IS NULL THEN
        RAISE EXCEPTION 'owner, max_tasks and max_attempts must be set, and max_tasks must be at least 1'
              USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- the tenants that have a task to claim, in random order
    SELECT array_agg(n.id ORDER BY random()) INTO served
      FROM unnest(tenants) AS n(id)
     CROSS JOIN LATERAL (
           (SELECT FROM cardbox.tasks t
             WHERE t.tenant_id = n.id AND t.wake_at <= moment
             ORDER BY t.wake_at LIMIT 1)
            UNION ALL
           (SELECT FROM cardbox.tasks t
             WHERE take_over AND t.tenant_id = n.id AND t.lease_owner = owner LIMIT 1)
             LIMIT 1) AS due;
    FOR claimed IN
        SELECT * FROM cardbox.give_up_task(served[1 : max_tasks], moment, owner, max_attempts, take_over)
    LOOP
        tasks_left := tasks_left - 1;
        RETURN NEXT claimed;
    END LOOP;
    share := ceil(tasks_left::numeric / greatest(cardinality(served), 1));
    IF take_over THEN
        FOREACH tenant IN ARRAY coalesce(served, '{}') LOOP
            FOR task IN
                SELECT * FROM cardbox.tasks t
                 WHERE t.tenant_id = tenant AND t.lease_owner = owner AND t.attempts < max_attempts
                 LIMIT tasks_left FOR NO KEY UPDATE SKIP LOCKED
            LOOP
                claimed := cardbox.assign_task(task, owner, lease_ms, max_attempts);
                tasks_left := tasks_left - 1;
                RETURN NEXT claimed;
            END LOOP;
        END LOOP;
    END IF;
    FOR round IN 1 .. 2 LOOP -- round 1 claims the equal shares, round 2 further tasks
        FOREACH tenant IN ARRAY coalesce(served, '{}') LOOP
            EXIT WHEN tasks_left <= 0;
            FOR task IN
                SELECT * FROM cardbox.lock_due_tasks(tenant, moment, max_attempts, least(share, tasks_left))
            LOOP
                claimed := cardbox.assign_task(task, owner, lease_ms, max_attempts);
                tasks_left := tasks_left - 1;
                RETURN NEXT claimed;
            END LOOP;
        END LOOP;
        share := tasks_left;
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.claim_tasks TO cardbox_worker;
ALTER FUNCTION cardbox.claim_tasks OWNER TO cardbox_writer;
