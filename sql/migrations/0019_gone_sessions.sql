-- no-transaction
-- gc reads the rows in the state `gone` by the time of the deletion. An index that an earlier attempt has left may be
-- invalid.
DROP INDEX CONCURRENTLY IF EXISTS cardbox.sessions_gone;
CREATE INDEX CONCURRENTLY sessions_gone ON cardbox.sessions (deleted_at) WHERE state = 'gone';
