-- Lists a page of a task's messages in the order of seq. The columns are those of enum message_column in the C code,
-- without the total.
-- $1 text  tenant
-- $2 text  task
-- $3 int8  seq of the last message of the previous page; 0: the first page
-- $4 int8  maximum number of messages
SELECT p.message_id, p.task_id, p.role, p.ts, p.seq, c.content, c.metadata, c.tool_calls
  FROM (SELECT m.message_id, m.task_id, m.role, m.ts, m.seq FROM cardbox.messages m
         WHERE m.tenant_id = $1::text AND m.task_id = $2::text AND m.seq > $3::int8
         ORDER BY m.seq LIMIT $4::int8) AS p
  LEFT JOIN LATERAL (SELECT x.content, x.metadata, x.tool_calls FROM cardbox.cards x -- as in messages_export
                      WHERE x.tenant_id = $1::text AND x.card_id = p.message_id LIMIT 1) AS c ON true
 ORDER BY p.seq
