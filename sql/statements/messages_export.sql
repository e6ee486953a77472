-- Lists a page of all messages of a tenant, ordered by task, then by seq. An import of the messages keeps their order.
-- See boxes_list.sql for why the condition has no coalesce().
-- $1 text  tenant
-- $2 text  task of the last message of the previous page; NULL: the first page
-- $3 int8  seq of the last message of the previous page
-- $4 int8  maximum number of messages
SELECT m.message_id, m.task_id, m.role, coalesce(c.content, '""'), m.ts, m.seq
  FROM (SELECT * FROM cardbox.messages x
         WHERE x.tenant_id = $1::text
           AND (x.task_id, x.seq) > (greatest($2::text, ''), greatest($3::int8, 0))
         ORDER BY x.task_id, x.seq LIMIT $4::int8) AS m
  LEFT JOIN LATERAL (SELECT x.content FROM cardbox.cards x -- test_costs.py test_costs: a join may read all cards
                      WHERE x.tenant_id = $1::text AND x.card_id = m.message_id LIMIT 1) AS c ON true
 ORDER BY m.task_id, m.seq
