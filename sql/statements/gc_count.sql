-- Counts the rows that repeated batches of gc_batch would remove. Returns one row with the columns of gc_batch.
-- $1 int8  retention of deleted cards and boxes, in seconds
SELECT * FROM cardbox.gc_count($1::int8)
