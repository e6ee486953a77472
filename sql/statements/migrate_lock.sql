-- Tries to acquire the advisory lock of `cardbox migrate`, which is held until the session ends. Returns false if
-- another session holds the lock. The program repeats the attempt, so that no statement waits for the lock. CREATE
-- INDEX CONCURRENTLY waits for older transactions, so it would also wait for a statement that waits for the lock.
-- $1 text  name of the lock
SELECT pg_try_advisory_lock(hashtextextended($1::text, 0))
