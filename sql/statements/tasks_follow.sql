-- Returns the new rows for followers of tasks. For each task new events come first, then new chunks of the message that
-- is being generated. If a limit cut the result, the last row is 'more'. The arrays have one element for each follower.
-- The columns are those that task_event_read in the C code reads.
-- $1 text[]  tenants
-- $2 text[]  tasks
-- $3 int8[]  number of the last event that the follower has; 0: none
-- $4 text[]  message of the last chunk that the follower has, or NULL
-- $5 int8[]  number of that chunk
-- $6 int8    maximum number of events, and of chunks, for each follower
-- $7 int8    size limit in bytes for each follower. The row that reaches it is returned
-- $8 int8    size limit in bytes for all followers. The row that reaches it is returned
SELECT e.ord, e.n, e.what, e.ref, e.how, e.at, e.text, e.metadata, e.call
  FROM cardbox.follow_tasks($1::text[], $2::text[], $3::int8[], $4::text[], $5::int8[],
                            $6::int8, $7::int8, $8::int8) AS e
