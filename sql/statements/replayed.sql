-- Up to where a standby has replayed the log of its primary: what is read there after this statement has all of it.
-- NULL: it is no standby, or no more.
SELECT CASE WHEN pg_is_in_recovery() THEN (pg_last_wal_replay_lsn() - '0/0')::int8 END
