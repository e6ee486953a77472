-- What batches of collect would remove in all, in the same columns.
-- $1 int8  retention of what was deleted, in seconds
SELECT (c.done).* FROM (SELECT cardbox.collectable($1::int8) AS done OFFSET 0) AS c
