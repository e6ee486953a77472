-- renew_tasks: renews leases. A task that others have locked now is not waited for: it is renewed
-- the next time.
-- States: 1 renewed  2 still held, not renewed now  3 lost
CREATE OR REPLACE FUNCTION cardbox.renew_tasks(
    tenants text[], tasks text[], epochs bigint[], lease_ms bigint)
RETURNS TABLE (ord bigint, state integer, status text)
LANGUAGE sql VOLATILE
AS $$
    WITH asked AS (
        SELECT * FROM unnest(tenants, tasks, epochs) WITH ORDINALITY AS k(tenant_id, task_id, epoch, ord)
    ), locked AS MATERIALIZED (
        SELECT a.ord, x.place
          FROM asked a
         CROSS JOIN LATERAL (
                SELECT t.ctid AS place FROM cardbox.tasks t
                 WHERE t.tenant_id = a.tenant_id AND t.task_id = a.task_id AND t.lease_epoch = a.epoch
                   AND t.lease_owner IS NOT NULL
                   FOR NO KEY UPDATE SKIP LOCKED) AS x
    ), renewed AS (
        UPDATE cardbox.tasks t
           SET wake_at = clock_timestamp() + lease_ms * interval '1 millisecond'
         WHERE t.ctid = ANY (ARRAY(SELECT l.place FROM locked l))
    )
    SELECT a.ord, CASE WHEN l.ord IS NOT NULL THEN 1
                       WHEN t.lease_epoch = a.epoch AND t.lease_owner IS NOT NULL THEN 2 ELSE 3 END,
           t.completion_status
      FROM asked a
      LEFT JOIN locked l ON l.ord = a.ord
      LEFT JOIN cardbox.tasks t ON t.tenant_id = a.tenant_id AND t.task_id = a.task_id
     ORDER BY a.ord
$$;
REVOKE ALL ON FUNCTION cardbox.renew_tasks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.renew_tasks TO cardbox_service, cardbox_worker;
