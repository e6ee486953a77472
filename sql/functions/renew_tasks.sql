-- renew_tasks: renews leases. The function does not wait for a task that another transaction has locked: a later call
-- can renew its lease. States: 1 renewed, 2 not renewed by this call because the task is locked, 3 lost.
CREATE OR REPLACE FUNCTION cardbox.renew_tasks(
    tenants text[], tasks text[], epochs bigint[], lease_ms bigint)
RETURNS TABLE (ord bigint, state integer, status text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(tenants);
    END IF;
    FOR i IN 1 .. coalesce(cardinality(tasks), 0) LOOP
        ord := i;
        SELECT CASE WHEN t.lease_epoch = epochs[i] AND t.lease_owner IS NOT NULL THEN 2 ELSE 3 END, t.completion_status
          INTO state, status
          FROM cardbox.tasks t WHERE t.tenant_id = tenants[i] AND t.task_id = tasks[i];
        state := coalesce(state, 3);
        IF state = 2 THEN
            PERFORM FROM cardbox.tasks t
              WHERE t.tenant_id = tenants[i] AND t.task_id = tasks[i] AND t.lease_epoch = epochs[i]
                AND t.lease_owner IS NOT NULL FOR NO KEY UPDATE SKIP LOCKED;
            IF FOUND THEN
                UPDATE cardbox.tasks t SET wake_at = clock_timestamp() + lease_ms * interval '1 millisecond'
                 WHERE t.tenant_id = tenants[i] AND t.task_id = tasks[i];
                state := 1;
            END IF;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.renew_tasks TO cardbox_worker;
ALTER FUNCTION cardbox.renew_tasks OWNER TO cardbox_writer;
