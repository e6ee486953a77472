-- Reads a task. The columns are those of enum task_column in the C code.
-- $1 text  tenant
-- $2 text  task
SELECT t.task_id, t.parent_task_id, t.completion_status, t.system_prompt, t.created_at, t.updated_at,
       t.cancel_reason, t.messages, t.wake_at, t.lease_owner, t.attempts, NULL::json, t.events,
       t.box_id::text, t.context_box_id::text, t.router,
       (SELECT m.ts FROM cardbox.messages m
         WHERE m.tenant_id = $1::text AND m.task_id = t.task_id
         ORDER BY m.ts DESC, m.seq DESC LIMIT 1)
  FROM cardbox.tasks t WHERE t.tenant_id = $1::text AND t.task_id = $2::text
