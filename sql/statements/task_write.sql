-- Writes a worker's messages and calls, and may end its lease. The rows are those of the function write_task. The
-- parameters $4 to $8 are those of ledger_save.
-- $1 text          tenant
-- $2 text          task
-- $3 int8          epoch
-- $4 jsonb         messages
-- $5 json[]        contents of the messages
-- $6 jsonb         calls
-- $7 json[]        parameters of the calls
-- $8 json[]        details of the calls
-- $9 int4          ending: 0 the lease continues, 1 finish the task, 2 put it to sleep, 3 release it
-- $10 text         for ending 1: completion status of the task
-- $11 int8         for endings 1 and 2: seq of the last message that the model has read; NULL: not checked
-- $12 bool         for ending 1: whether a task with unfinished subtasks sleeps instead
-- $13 timestamptz  for ending 2: time at which the task becomes due; NULL: task_send or the end of a subtask wakes it
SELECT w.kind, w.ord, w.outcome
  FROM cardbox.write_task($1::text, $2::text, $3::int8, $4::jsonb, $5::json[], $6::jsonb,
                          $7::json[], $8::json[], $9::int4, $10::text, $11::int8,
                          $12::bool, $13::timestamptz) AS w
