-- claim_tasks: claims up to `most` tasks that are due: for each tenant its share first, then
-- whatever is left, so that a tenant with many tasks does not starve the others.
--   most_attempts  a task that was claimed so often without success fails (outcome 12)
--   take_over      also tasks that this owner holds: for a worker that was started again
CREATE OR REPLACE FUNCTION cardbox.claim_tasks(
    tenants text[], owner text, lease_ms bigint, most integer, most_attempts integer, take_over boolean)
RETURNS SETOF cardbox.claimed_task
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment CONSTANT timestamptz := clock_timestamp();
    served text[];
    share  integer;
    tenant text;
    task   cardbox.tasks;
    room   integer := most;
    claimed cardbox.claimed_task;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(tenants);
    END IF;
    IF owner IS NULL OR most IS NULL OR most < 1 THEN
        RAISE EXCEPTION 'a claim needs an owner and a number of tasks' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- those that have anything, in an order that is no one's favourite
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
    share := ceil(most::numeric / greatest(cardinality(served), 1));
    IF take_over THEN
        FOREACH tenant IN ARRAY coalesce(served, '{}') LOOP
            FOR task IN
                SELECT * FROM cardbox.tasks t
                 WHERE t.tenant_id = tenant AND t.lease_owner = owner
                 LIMIT room FOR NO KEY UPDATE SKIP LOCKED
            LOOP
                claimed := cardbox.assign_task(task, owner, lease_ms, most_attempts);
                room := room - 1;
                RETURN NEXT claimed;
            END LOOP;
        END LOOP;
    END IF;
    FOR turn IN 1 .. 2 LOOP
        FOREACH tenant IN ARRAY coalesce(served, '{}') LOOP
            EXIT WHEN room <= 0;
            FOR task IN
                SELECT * FROM cardbox.tasks t
                 WHERE t.tenant_id = tenant AND t.wake_at <= moment
                 ORDER BY t.wake_at LIMIT least(share, room) FOR NO KEY UPDATE SKIP LOCKED
            LOOP
                claimed := cardbox.assign_task(task, owner, lease_ms, most_attempts);
                room := room - 1;
                RETURN NEXT claimed;
            END LOOP;
        END LOOP;
        share := room;
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.claim_tasks TO cardbox_worker;
ALTER FUNCTION cardbox.claim_tasks OWNER TO cardbox_writer;
