-- A page of all messages of a tenant, task by task in the order in which they came: an import gives them
-- the same order again.
-- Not coalesce(): see boxes_list.
-- $1 text  tenant
-- $2 text task, $3 int8 seq  after this message; NULL: from the first
-- $4 int8  how many
SELECT m.message_id, m.task_id, m.role, coalesce(c.content, '""'), m.ts, m.seq
  FROM (SELECT * FROM cardbox.messages x
         WHERE x.tenant_id = $1::text
           AND (x.task_id, x.seq) > (greatest($2::text, ''), greatest($3::int8, 0))
         ORDER BY x.task_id, x.seq LIMIT $4::int8) AS m
  LEFT JOIN LATERAL (SELECT x.content FROM cardbox.cards x -- test_costs.py test_costs: else it may read all cards
                      WHERE x.tenant_id = $1::text AND x.card_id = m.message_id LIMIT 1) AS c ON true
 ORDER BY m.task_id, m.seq
