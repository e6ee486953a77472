-- Removes a batch of what is dead, of all tenants. One row: whether another collector is at work, whether
-- there may be more, how many rows the batch could still have taken, then rows and bytes of each kind.
-- $1 int8  retention of what was deleted, in seconds
-- $2 int8  most rows in this batch
SELECT (c.done).* FROM (SELECT cardbox.collect($1::int8, $2::int8) AS done OFFSET 0) AS c
