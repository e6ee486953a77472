-- A page of tasks, newest first, and how many there are in all. One row with a NULL id if the page is
-- empty. Planned anew each time: filters that are NULL fall out of the plan, and the index of the one that
-- is left is used.
-- Without statistics PostgreSQL takes nearly all tasks for held if asked which have an owner, and few if asked
-- for those in a range: this one ends behind the longest name that there can be.
-- plan: each time
-- $1 text  tenant
-- $2 bool  only active ones; $3 text only of this completion status; $4 text only of this parent;
-- $5 int8  created at or after, $6 int8 created at or before, in ms; NULL: any
-- $7 int8  how many, $8 int8 how many of the newest are passed over
-- $9 bool  each with what it is for, as in tasks_active
-- $10 text running: somebody has it; waiting: nobody has, it is not finished; failed: its status begins
--          with this word; NULL: any
-- Columns as in task_get, then the total.
SELECT p.*, n.total
  FROM (SELECT count(*) AS total FROM cardbox.tasks t
         WHERE t.tenant_id = $1::text
           AND ($2::bool IS NULL OR t.completion_status IS NULL)
           AND ($3::text IS NULL OR t.completion_status = $3::text)
           AND ($4::text IS NULL OR t.parent_task_id = $4::text)
           AND ($5::int8 IS NULL OR t.created_at >= $5::int8)
           AND ($6::int8 IS NULL OR t.created_at <= $6::int8)
           AND CASE $10::text WHEN 'running' THEN t.lease_owner BETWEEN '' AND repeat(chr(1114111), 64)
                    WHEN 'waiting' THEN t.completion_status IS NULL AND t.lease_owner IS NULL
                    WHEN 'failed' THEN t.completion_status >= 'failed' AND t.completion_status < 'failed;'
                    ELSE true END) AS n
  LEFT JOIN LATERAL (
        SELECT t.task_id, t.parent_task_id, t.completion_status, t.system_prompt, t.created_at,
               t.updated_at, t.cancel_reason, t.messages, t.wake_at, t.lease_owner, t.attempts,
               CASE WHEN $9::bool THEN (
                    SELECT c.content FROM cardbox.messages m
                      JOIN cardbox.cards c ON c.tenant_id = m.tenant_id AND c.card_id = m.message_id
                     WHERE m.tenant_id = $1::text AND m.task_id = t.task_id AND m.role = 'user'
                     ORDER BY m.seq LIMIT 1) END,
               t.events
          FROM cardbox.tasks t
         WHERE t.tenant_id = $1::text
           AND ($2::bool IS NULL OR t.completion_status IS NULL)
           AND ($3::text IS NULL OR t.completion_status = $3::text)
           AND ($4::text IS NULL OR t.parent_task_id = $4::text)
           AND ($5::int8 IS NULL OR t.created_at >= $5::int8)
           AND ($6::int8 IS NULL OR t.created_at <= $6::int8)
           AND CASE $10::text WHEN 'running' THEN t.lease_owner BETWEEN '' AND repeat(chr(1114111), 64)
                    WHEN 'waiting' THEN t.completion_status IS NULL AND t.lease_owner IS NULL
                    WHEN 'failed' THEN t.completion_status >= 'failed' AND t.completion_status < 'failed;'
                    ELSE true END
         ORDER BY t.created_at DESC, t.task_id DESC LIMIT $7::int8 OFFSET $8::int8) AS p ON true
