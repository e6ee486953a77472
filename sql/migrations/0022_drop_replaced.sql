-- The index sessions_live replaces the index sessions_by_time. The function append_or_create() replaces
-- create_and_append(). Nothing has been released, so no program of an earlier release calls the old function.
DROP INDEX IF EXISTS cardbox.sessions_by_time;
DROP FUNCTION IF EXISTS cardbox.create_and_append;
