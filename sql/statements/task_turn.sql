-- Prepares a turn of a worker: see the function begin_turn. Returns one row.
-- $1 text  tenant
-- $2 text  task
-- $3 int8  epoch
-- $4 uuid  id of a new box, for a task without a box
SELECT b.outcome, b.box, b.version, b.context, b.context_version, b.last_read, b.router, b.has_message
  FROM cardbox.begin_turn($1::text, $2::text, $3::int8, $4::uuid) AS b
