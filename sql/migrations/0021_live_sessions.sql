-- no-transaction
-- The lists of sessions read this index. It replaces the index sessions_by_time, which also has the ids of deleted
-- sessions, so a page could read many rows that it does not show. An index that an earlier attempt has left may be
-- invalid.
DROP INDEX CONCURRENTLY IF EXISTS cardbox.sessions_live;
CREATE INDEX CONCURRENTLY sessions_live ON cardbox.sessions (tenant_id, created_at, session_id) WHERE state = 'live';
