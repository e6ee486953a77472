-- Lists a page of all tasks of a tenant. Each task comes after its parent.
-- $1 text  tenant
-- $2 text  last task of the previous page; NULL: the first page
-- $3 int8  maximum number of tasks
SELECT t.task_id, t.parent_task_id, t.completion_status, t.system_prompt, t.created_at, t.updated_at,
       t.box_id::text, t.context_box_id::text, t.router
  FROM cardbox.next_tasks($1::text, $2::text, $3::int8) WITH ORDINALITY AS n(task_id, number)
 CROSS JOIN LATERAL ( -- test_costs.py test_costs: without LATERAL and LIMIT, the join may read all tasks
        SELECT * FROM cardbox.tasks x WHERE x.tenant_id = $1::text AND x.task_id = n.task_id LIMIT 1) AS t
 ORDER BY n.number
