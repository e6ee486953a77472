-- Lists a page of a task's messages in the order of their times. The last column is the total number of the
-- task's messages. If the page is empty, one row with a NULL id is returned. The columns are those of enum
-- message_column in the C code.
-- $1 text  tenant
-- $2 text  task
-- $3 int8  maximum number of messages
-- $4 int8  number of messages to skip
SELECT p.message_id, $2::text, p.role, p.ts, p.seq, c.content, c.metadata, c.tool_calls,
       coalesce((SELECT t.messages FROM cardbox.tasks t
                  WHERE t.tenant_id = $1::text AND t.task_id = $2::text), 0)
  FROM (SELECT) AS one
  LEFT JOIN (SELECT m.message_id, m.role, m.ts, m.seq FROM cardbox.messages m
              WHERE m.tenant_id = $1::text AND m.task_id = $2::text
              ORDER BY m.ts, m.seq LIMIT $3::int8 OFFSET $4::int8) AS p ON true
  LEFT JOIN LATERAL (SELECT x.content, x.metadata, x.tool_calls FROM cardbox.cards x -- as in messages_export
                      WHERE x.tenant_id = $1::text AND x.card_id = p.message_id LIMIT 1) AS c ON true
 ORDER BY p.ts, p.seq
