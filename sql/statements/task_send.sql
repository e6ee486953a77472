-- Adds a user's message to a task, and wakes the task unless a worker holds it: see the function send_to_task. Returns
-- one row with the outcome.
-- $1 text   tenant
-- $2 text   task
-- $3 text   message id
-- $4 json   content
-- $5 jsonb  metadata
SELECT cardbox.send_to_task($1::text, $2::text, $3::text, $4::json, $5::jsonb)
