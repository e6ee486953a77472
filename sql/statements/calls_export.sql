-- Lists a page of all calls of a tenant, ordered by task, then by time. See boxes_list.sql for why the condition has no
-- coalesce().
-- $1 text  tenant
-- $2 text  task of the last call of the previous page; NULL: the first page
-- $3 int8  created_at of the last call of the previous page
-- $4 int8  seq of the last call of the previous page
-- $5 int8  maximum number of calls
SELECT c.call_id, c.task_id, c.ability_name, c.parameters, c.status, c.details, c.created_at,
       c.updated_at, c.start_message_id, c.end_message_id, c.seq
  FROM cardbox.calls c
 WHERE c.tenant_id = $1::text
   AND (c.task_id, c.created_at, c.seq) >
       (greatest($2::text, ''), greatest($3::int8, '-9223372036854775808'), greatest($4::int8, '-9223372036854775808'))
 ORDER BY c.task_id, c.created_at, c.seq LIMIT $5::int8
