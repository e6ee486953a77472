-- Writes for a worker that holds a task, and may end its lease: see the function. Rows as of ledger_save.
-- The row of kind 0 is the outcome for the lease; it may be lost.
-- $1 text tenant, $2 text task, $3 int8 epoch
-- $4 jsonb messages, $5 json[] contents, $6 jsonb calls, $7 json[] parameters, $8 json[] details: as in
-- ledger_save
-- $9 int4 ending: 0 none, 1 finished, 2 asleep, 3 handed back
-- $10 text completion status, for 1
-- $11 int8 number of the last message that the turn knew; NULL: not asked
-- $12 bool for 1: sleeps instead while there are unfinished subtasks
-- $13 timestamptz for 2: wakes then; NULL: only by a message
SELECT w.kind, w.ord, w.outcome
  FROM cardbox.write_task($1::text, $2::text, $3::int8, $4::jsonb, $5::json[], $6::jsonb,
                          $7::json[], $8::json[], $9::int4, $10::text, $11::int8,
                          $12::bool, $13::timestamptz) AS w
