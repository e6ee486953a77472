-- Returns the pid of the session's backend. Behind a pooler it differs from the pid that the client received.
SELECT pg_backend_pid()
