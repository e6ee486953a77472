-- Lists the newest active tasks, each with the content of the first message that has the role user. The columns are
-- those of task_get.
-- $1 text  tenant
-- $2 int8  maximum number of tasks
SELECT t.task_id, t.parent_task_id, t.completion_status, t.system_prompt, t.created_at, t.updated_at,
       t.cancel_reason, t.messages, t.wake_at, t.lease_owner, t.attempts,
       (SELECT c.content FROM cardbox.messages m
          JOIN cardbox.cards c ON c.tenant_id = m.tenant_id AND c.card_id = m.message_id
         WHERE m.tenant_id = $1::text AND m.task_id = t.task_id AND m.role = 'user'
         ORDER BY m.seq LIMIT 1), t.events, t.box_id::text, t.context_box_id::text, t.router,
       (SELECT m.ts FROM cardbox.messages m
         WHERE m.tenant_id = $1::text AND m.task_id = t.task_id
         ORDER BY m.ts DESC, m.seq DESC LIMIT 1)
  FROM cardbox.tasks t
 WHERE t.tenant_id = $1::text AND t.completion_status IS NULL
 ORDER BY t.created_at DESC, t.task_id DESC LIMIT $2::int8
