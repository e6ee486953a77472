-- Claims tasks that are due: see the function. One row a task: tenant, task, epoch, attempts, outcome,
-- calls that were failed, parent.
-- $1 text[] tenants; those that are not granted are skipped. NULL: all that the role may serve
-- $2 text  owner, $3 int8 lease in ms, $4 int4 how many, $5 int4 attempts that are allowed
-- $6 bool  also those that the owner holds already
SELECT c.tenant_id, c.task_id, c.epoch, c.attempts, c.outcome, c.failed_calls, c.parent_task_id
  FROM cardbox.claim_tasks(CASE WHEN $1::text[] IS NULL THEN cardbox.served_tenants()
                                ELSE cardbox.granted_tenants($1::text[]) END,
                           $2::text, $3::int8, $4::int4, $5::int4, $6::bool) AS c
