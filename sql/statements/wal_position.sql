-- Returns a WAL position: a standby that has replayed up to it has all commits before this statement. It is the flushed
-- position, or the inserted position if commits do not wait for the flush. The latter may be after the header of the
-- next page.
SELECT (CASE WHEN current_setting('synchronous_commit') = 'off' THEN pg_current_wal_insert_lsn()
             ELSE pg_current_wal_flush_lsn() END)::text
