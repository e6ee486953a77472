-- Finishes a task: see the function finish_task. Returns one row with the outcome.
-- $1 text  tenant
-- $2 text  task
-- $3 text  completion status
SELECT cardbox.finish_task($1::text, $2::text, $3::text)
