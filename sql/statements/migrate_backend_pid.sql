-- The process that serves this session. A pooler gives its clients numbers of its own instead.
SELECT pg_backend_pid()
