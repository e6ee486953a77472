-- Creates a task with its first messages. The task is due at once: see the function create_task. Returns one row with
-- the outcome.
-- $1 text    tenant
-- $2 text    task
-- $3 jsonb   parent, box, context box, router: see create_task
-- $4 json    system prompt
-- $5 jsonb   messages, as in ledger_save
-- $6 json[]  contents of the messages
SELECT cardbox.create_task($1::text, $2::text, $3::jsonb, $4::json, $5::jsonb, $6::json[])
