-- Tries to acquire the advisory lock of `cardbox migrate`, which the session then holds until the session ends. Returns
-- false if another session holds the lock. The program repeats the attempt and does not wait in PostgreSQL. Otherwise
-- CREATE INDEX CONCURRENTLY, which waits for older transactions, would wait for the statement that waits for the lock.
-- $1 text  name of the lock
SELECT pg_try_advisory_lock(hashtextextended($1::text, 0))
