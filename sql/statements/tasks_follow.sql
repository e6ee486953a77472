-- What has happened to tasks since their followers last looked: events, and behind them the pieces of the
-- message that is being said; where that does not all fit, behind it a row that says 'more'. Rows of one
-- task stand in order.
-- $1 text[] tenants, $2 text[] tasks, $3 int8[] number of the last event that is known, 0: none
-- $4 text[] message whose pieces are known, or NULL; $5 int8[] number of the last of them
-- $6 int8  most events and most pieces of each
-- $7 int8  bytes of each, $8 int8 bytes of all: nothing more begins beyond them
-- The columns are those that task_event_read in the C code reads.
SELECT e.ord, e.n, e.what, e.ref, e.how, e.at, e.text, e.metadata, e.call
  FROM cardbox.follow_tasks($1::text[], $2::text[], $3::int8[], $4::text[], $5::int8[],
                            $6::int8, $7::int8, $8::int8) AS e
