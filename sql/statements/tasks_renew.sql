-- Renews leases: see the function. Returns one row for each lease: its index from 1, its state, and the
-- task's completion status. States are 1 renewed, 2 held but not renewed this time, 3 lost.
-- A lease is lost if its tenant is no longer granted. The function would reject all leases for it.
-- $1 text[] tenants, $2 text[] tasks, $3 int8[] epochs, $4 int8 lease in ms
SELECT l.ord, coalesce(r.state, 3), r.status
  FROM (SELECT cardbox.granted_tenants($1::text[]) AS ids) AS granted
 CROSS JOIN unnest($1::text[], $2::text[], $3::int8[]) WITH ORDINALITY AS l(tenant_id, task_id, epoch, ord)
  LEFT JOIN LATERAL cardbox.renew_tasks(
       CASE WHEN l.tenant_id = ANY (granted.ids) THEN ARRAY[l.tenant_id] ELSE '{}' END,
       CASE WHEN l.tenant_id = ANY (granted.ids) THEN ARRAY[l.task_id] ELSE '{}' END,
       ARRAY[l.epoch], $4::int8) AS r ON true
