-- Returns the pid of the session's backend. Behind a pooler this pid normally differs from the one that the client
-- received when it connected.
SELECT pg_backend_pid()
