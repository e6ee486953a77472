-- A page of all calls of a tenant, task by task, oldest first.
-- Not coalesce(): see boxes_list.
-- $1 text  tenant
-- $2 text task, $3 int8 created, $4 int8 seq  after this call; NULL: from the first
-- $5 int8  how many
SELECT c.call_id, c.task_id, c.ability_name, c.parameters, c.status, c.details, c.created_at,
       c.updated_at, c.start_message_id, c.end_message_id, c.seq
  FROM cardbox.calls c
 WHERE c.tenant_id = $1::text
   AND (c.task_id, c.created_at, c.seq) >
       (greatest($2::text, ''), greatest($3::int8, '-9223372036854775808'), greatest($4::int8, '-9223372036854775808'))
 ORDER BY c.task_id, c.created_at, c.seq LIMIT $5::int8
