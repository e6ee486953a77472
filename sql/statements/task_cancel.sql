-- Cancels a task: see the function cancel_task. Returns one row with the outcome.
-- $1 text  tenant
-- $2 text  task
-- $3 json  reason
SELECT cardbox.cancel_task($1::text, $2::text, $3::json)
