-- A new task with its first messages, runnable at once: see the function. One row: the outcome.
-- $1 text tenant, $2 text task, $3 text parent or NULL, $4 json system prompt
-- $5 jsonb messages, $6 json[] contents: as in ledger_save
SELECT cardbox.spawn_task($1::text, $2::text, $3::text, $4::json, $5::jsonb, $6::json[])
