-- The calls of a task, oldest first.
-- $1 text tenant, $2 text task
-- $3 int8 created_at and $4 int8 seq of the last call that is known, -1: none; $5 int8 how many
-- The columns are those of enum call_column in the C code.
SELECT c.call_id, c.task_id, c.ability_name, c.parameters, c.status, c.details, c.created_at,
       c.updated_at, c.start_message_id, c.end_message_id, c.seq
  FROM cardbox.calls c
 WHERE c.tenant_id = $1::text AND c.task_id = $2::text
   AND (c.created_at, c.seq) > ($3::int8, $4::int8)
 ORDER BY c.created_at, c.seq LIMIT $5::int8
