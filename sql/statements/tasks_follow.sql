-- Returns new events and chunks of tasks for followers: task streams that each read one task. For each follower, new
-- events come first, then new chunks of the message that is being generated. If a limit may have cut the rows of a
-- follower, the follower's last row has 'more' in the column `what`. The arrays have one element for each follower.
-- task_event_read() in the C code reads the columns.
-- $1 text[]  tenants
-- $2 text[]  tasks
-- $3 int8[]  number of the last event that the follower has; 0: none
-- $4 text[]  message of the last chunk that the follower has, or NULL
-- $5 int8[]  number of the last chunk that the follower has
-- $6 int8    maximum number of events, and maximum number of chunks, for each follower
-- $7 int8    size limit in bytes for each follower; the row that reaches the limit is still returned
-- $8 int8    size limit in bytes for all followers; the row that reaches the limit is still returned
SELECT e.ord, e.n, e.what, e.ref, e.how, e.at, e.text, e.metadata, e.call
  FROM cardbox.follow_tasks($1::text[], $2::text[], $3::int8[], $4::text[], $5::int8[],
                            $6::int8, $7::int8, $8::int8) AS e
