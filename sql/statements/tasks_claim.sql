-- Claims tasks that are due: see the function claim_tasks. Each row has a task's tenant and id, epoch, attempts,
-- outcome, the number of open calls that this claim has ended as failed, and the parent.
-- $1 text[]  tenants; tenants that are not granted are skipped; NULL: all tenants whose tasks the role may claim
-- $2 text    owner
-- $3 int8    duration of the lease in ms
-- $4 int4    maximum number of tasks
-- $5 int4    maximum number of claims of a task: see max_attempts of the function
-- $6 bool    whether to claim also tasks that the owner already holds
SELECT c.tenant_id, c.task_id, c.epoch, c.attempts, c.outcome, c.failed_calls, c.parent_task_id
  FROM cardbox.claim_tasks(CASE WHEN $1::text[] IS NULL THEN cardbox.served_tenants()
                                ELSE cardbox.granted_tenants($1::text[]) END,
                           $2::text, $3::int8, $4::int4, $5::int4, $6::bool) AS c
