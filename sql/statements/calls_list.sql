-- Lists the calls of a task, oldest first. The columns are those of enum call_column in the C code.
-- $1 text  tenant
-- $2 text  task
-- $3 int8  created_at of the last call of the previous page; -1: the first page
-- $4 int8  seq of the last call of the previous page
-- $5 int8  maximum number of calls
SELECT c.call_id, c.task_id, c.ability_name, c.parameters, c.status, c.details, c.created_at,
       c.updated_at, c.start_message_id, c.end_message_id, c.seq
  FROM cardbox.calls c
 WHERE c.tenant_id = $1::text AND c.task_id = $2::text
   AND (c.created_at, c.seq) > ($3::int8, $4::int8)
 ORDER BY c.created_at, c.seq LIMIT $5::int8
