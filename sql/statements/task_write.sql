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
-- $9 int4          ending: 0 none, 1 finished, 2 asleep, 3 released
-- $10 text         ending 1: completion status
-- $11 int8         endings 1 and 2: seq of the last message that the model has read; NULL: not checked
-- $12 bool         ending 1: whether a task with unfinished subtasks sleeps instead
-- $13 timestamptz  ending 2: when the task becomes due; NULL: when task_send or the end of a subtask wakes the task
SELECT w.kind, w.ord, w.outcome
  FROM cardbox.write_task($1::text, $2::text, $3::int8, $4::jsonb, $5::json[], $6::jsonb,
                          $7::json[], $8::json[], $9::int4, $10::text, $11::int8,
                          $12::bool, $13::timestamptz) AS w
