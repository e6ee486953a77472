-- Lists a page of tasks, newest first: see the function list_tasks. The columns are those of task_get, then the total
-- number of tasks that match the filters. If the page is empty, one row with a NULL id is returned. Filters that are
-- NULL match all tasks.
-- $1 text   tenant
-- $2 bool   only active tasks
-- $3 text   completion status
-- $4 text   parent
-- $5 int8   earliest created_at, in Unix milliseconds
-- $6 int8   latest created_at, in Unix milliseconds
-- $7 int8   maximum number of tasks
-- $8 int8   number of tasks to skip
-- $9 bool   whether to return the content of the first message with role user, as in tasks_active
-- $10 text  state: running, waiting or failed
SELECT (l.task).task_id, (l.task).parent_task_id, (l.task).completion_status, (l.task).system_prompt,
       (l.task).created_at, (l.task).updated_at, (l.task).cancel_reason, (l.task).messages, (l.task).wake_at,
       (l.task).lease_owner, (l.task).attempts,
       CASE WHEN $9::bool THEN (
            SELECT c.content FROM cardbox.messages m
              JOIN cardbox.cards c ON c.tenant_id = m.tenant_id AND c.card_id = m.message_id
             WHERE m.tenant_id = $1::text AND m.task_id = (l.task).task_id AND m.role = 'user'
             ORDER BY m.seq LIMIT 1) END,
       (l.task).events, (l.task).box_id::text, (l.task).context_box_id::text,
       (l.task).router,
       (SELECT m.ts FROM cardbox.messages m
         WHERE m.tenant_id = $1::text AND m.task_id = (l.task).task_id
         ORDER BY m.ts DESC, m.seq DESC LIMIT 1),
       l.total
  FROM cardbox.list_tasks($1::text, $2::bool, $3::text, $4::text, $5::int8, $6::int8, $10::text, $7::int8, $8::int8) AS l
