-- Returns the WAL position up to which a standby has replayed. Later statements on this standby see all changes up to
-- this position. Returns NULL if the server is not a standby any more.
SELECT CASE WHEN pg_is_in_recovery() THEN (pg_last_wal_replay_lsn() - '0/0')::int8 END
