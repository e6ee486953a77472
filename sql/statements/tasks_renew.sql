-- Renews leases: see the function renew_tasks. Each row has a lease's index from 1, its state, and the task's
-- completion status. States are 1 renewed, 2 not renewed by this call because the task is locked, 3 lost. A lease is
-- lost if its tenant is no longer granted. Such leases are not passed to renew_tasks(), which would reject the whole
-- call.
-- $1 text[]  tenants
-- $2 text[]  tasks
-- $3 int8[]  epochs
-- $4 int8    duration of the lease in ms
WITH granted AS (
    SELECT array_agg(l.tenant_id ORDER BY l.ord) AS tenants, array_agg(l.task_id ORDER BY l.ord) AS tasks,
           array_agg(l.epoch ORDER BY l.ord) AS epochs, array_agg(l.ord ORDER BY l.ord) AS ords
      FROM (SELECT cardbox.granted_tenants($1::text[]) AS ids) AS g
      JOIN unnest($1::text[], $2::text[], $3::int8[]) WITH ORDINALITY AS l(tenant_id, task_id, epoch, ord)
        ON l.tenant_id = ANY (g.ids)
), renewed AS (
    SELECT g.ords[r.ord] AS ord, r.state, r.status
      FROM granted AS g
     CROSS JOIN LATERAL cardbox.renew_tasks(g.tenants, g.tasks, g.epochs, $4::int8) AS r
)
SELECT l.ord, coalesce(r.state, 3), r.status
  FROM generate_series(1::int8, cardinality($1::text[])) AS l(ord)
  LEFT JOIN renewed r ON r.ord = l.ord
