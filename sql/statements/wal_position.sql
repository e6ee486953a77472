-- Returns a WAL position. A standby that has replayed up to this position has the commits that were made before this
-- statement. The result is the flushed position, or the inserted position if synchronous_commit is off. At the end of a
-- WAL page, the inserted position may be after the header of the next page.
SELECT (CASE WHEN current_setting('synchronous_commit') = 'off' THEN pg_current_wal_insert_lsn()
             ELSE pg_current_wal_flush_lsn() END)::text
