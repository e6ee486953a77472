-- Writes a worker's messages and calls, and may end its lease: see the function. Returns rows as
-- ledger_save does, and a row of kind 0 with the outcome of the lease, such as lost.
-- $1 text tenant, $2 text task, $3 int8 epoch
-- $4 jsonb messages, $5 json[] contents, $6 jsonb calls, $7 json[] parameters, $8 json[] details: as in
-- ledger_save
-- $9 int4 ending: 0 none, 1 finished, 2 asleep, 3 handed back
-- $10 text completion status, for 1
-- $11 int8 seq of the last message that the model has read; NULL: not checked
-- $12 bool for 1: if there are unfinished subtasks, the task sleeps instead
-- $13 timestamptz for 2: when the task wakes; NULL: only a message wakes it
SELECT w.kind, w.ord, w.outcome
  FROM cardbox.write_task($1::text, $2::text, $3::int8, $4::jsonb, $5::json[], $6::jsonb,
                          $7::json[], $8::json[], $9::int4, $10::text, $11::int8,
                          $12::bool, $13::timestamptz) AS w
