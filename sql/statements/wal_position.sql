-- Up to where the write-ahead log holds what was committed before this statement: a replica that has
-- replayed so far has it too. What was flushed is the tightest bound, and where commits do not wait
-- for the flush, what was inserted (which may point behind the next page's header).
SELECT (CASE WHEN current_setting('synchronous_commit') = 'off' THEN pg_current_wal_insert_lsn()
             ELSE pg_current_wal_flush_lsn() END)::text
