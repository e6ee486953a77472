-- A page of tasks, newest first, and how many there are in all: see the function list_tasks. One row with a NULL id
-- if the page is empty.
-- $1 text  tenant
-- $2 bool  only active ones; $3 text only of this completion status; $4 text only of this parent;
-- $5 int8  created at or after, $6 int8 created at or before, in ms; NULL: any
-- $7 int8  how many, $8 int8 how many of the newest are passed over
-- $9 bool  each with what it is for, as in tasks_active
-- $10 text running, waiting or failed; NULL: any
-- Columns as in task_get, then the total.
SELECT (l.task).task_id, (l.task).parent_task_id, (l.task).completion_status, (l.task).system_prompt,
       (l.task).created_at, (l.task).updated_at, (l.task).cancel_reason, (l.task).messages, (l.task).wake_at,
       (l.task).lease_owner, (l.task).attempts,
       CASE WHEN $9::bool THEN (
            SELECT c.content FROM cardbox.messages m
              JOIN cardbox.cards c ON c.tenant_id = m.tenant_id AND c.card_id = m.message_id
             WHERE m.tenant_id = $1::text AND m.task_id = (l.task).task_id AND m.role = 'user'
             ORDER BY m.seq LIMIT 1) END,
       (l.task).events, l.total
  FROM cardbox.list_tasks($1::text, $2::bool, $3::text, $4::text, $5::int8, $6::int8, $10::text, $7::int8, $8::int8) AS l
