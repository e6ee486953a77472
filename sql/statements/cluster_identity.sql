-- Returns whether the server is a standby, and a number that identifies the cluster, the database, the timeline and the
-- role. For the same database and role, a primary and its standbys have the same number. WAL positions of two servers
-- can be compared only if their numbers are equal. The timeline of a standby is read from its control file, which is
-- never ahead of the replayed WAL. So after a failover a standby may have the new number only from its next
-- restartpoint on.
SELECT s.is_standby,
       hashtextextended(concat_ws(' ', (SELECT system_identifier FROM pg_control_system()),
                                  (SELECT oid FROM pg_database WHERE datname = current_database()),
                                  CASE WHEN s.is_standby
                                       THEN (SELECT min_recovery_end_timeline FROM pg_control_recovery())
                                       ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int4 END,
                                  current_user), 0)
  FROM (SELECT pg_is_in_recovery() AS is_standby) AS s
