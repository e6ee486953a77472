-- Tries to acquire the advisory lock of `cardbox migrate`, which its session holds until it ends. Returns false if
-- another session holds it. The program repeats the attempt and does not wait in PostgreSQL: CREATE INDEX CONCURRENTLY
-- waits for all running statements, and thus for one that waits for the lock.
-- $1 text  name of the lock
SELECT pg_try_advisory_lock(hashtextextended($1::text, 0))
