-- Creates a task with its first messages. The task is due at once: see the function spawn_task. Returns one row with
-- the outcome.
-- $1 text    tenant
-- $2 text    task
-- $3 text    parent, or NULL
-- $4 json    system prompt
-- $5 jsonb   messages, as in ledger_save
-- $6 json[]  contents of the messages
SELECT cardbox.spawn_task($1::text, $2::text, $3::text, $4::json, $5::jsonb, $6::json[])
