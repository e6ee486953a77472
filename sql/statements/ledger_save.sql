-- Saves tasks, messages and calls, all or none: see the function save_ledger. Each row has a kind (1 task, 2 message,
-- 3 call), an index from 1, and an outcome. The array $3 is parallel to $2, $5 to $4,
-- and $7 and $8 to $6.
-- $1 text    tenant
-- $2 jsonb   tasks: id, parent, status, created, updated
-- $3 json[]  system prompts of the tasks
-- $4 jsonb   messages: id, task, role, ts, metadata, tool_calls, usage: see the function add_usage
-- $5 json[]  contents of the messages' cards
-- $6 jsonb   calls: id, task, ability, status, created, updated, start, end
-- $7 json[]  parameters of the calls
-- $8 json[]  details of the calls; NULL: the stored details stay
SELECT s.kind, s.ord, s.outcome
  FROM cardbox.save_ledger($1::text, $2::jsonb, $3::json[], $4::jsonb, $5::json[], $6::jsonb,
                           $7::json[], $8::json[]) AS s
