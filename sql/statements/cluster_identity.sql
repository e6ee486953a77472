-- Whether the server is a standby; and a number for what it is: which cluster, which database in it, on which timeline,
-- for which role. It is the same on a primary and on the standbys that follow it, and only there does a place in the
-- log mean the same. A standby's timeline is that of its control file, which is never ahead of what it has replayed:
-- after a failover it is the new one from the standby's next restartpoint on.
SELECT s.is_standby,
       hashtextextended(concat_ws(' ', (SELECT system_identifier FROM pg_control_system()),
                                  (SELECT oid FROM pg_database WHERE datname = current_database()),
                                  CASE WHEN s.is_standby
                                       THEN (SELECT min_recovery_end_timeline FROM pg_control_recovery())
                                       ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int4 END,
                                  current_user), 0)
  FROM (SELECT pg_is_in_recovery() AS is_standby) AS s
