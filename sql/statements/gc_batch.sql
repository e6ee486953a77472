-- Garbage collection for all tenants: removes one batch of dead rows. Returns one row. The first three columns of the
-- row are whether another session runs gc, whether more rows may be left, and the unused part of the limit. After these
-- three columns, each kind of rows has two columns: the number of removed rows, and their bytes.
-- $1 int8  retention of deleted cards and boxes, in seconds
-- $2 int8  limit for the number of rows: see max_rows of the function
SELECT * FROM cardbox.gc_batch($1::int8, $2::int8)
