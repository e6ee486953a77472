-- Stores a chunk of a message that is being generated: see the function write_task_chunk. Returns no row if the lease
-- is lost.
-- $1 text  tenant
-- $2 text  task
-- $3 int8  epoch
-- $4 text  message id
-- $5 int8  number of the chunk, from 1
-- $6 json  text of the chunk, as a JSON string
SELECT true WHERE cardbox.write_task_chunk($1::text, $2::text, $3::int8, $4::text, $5::int8, $6::json)
