-- Takes the lock that one `cardbox migrate` at a time holds on this database, until its session
-- ends. False: another one has it. Asked for again and again rather than waited for, because CREATE
-- INDEX CONCURRENTLY waits for every statement that has begun, also for one that waits for a lock.
SELECT pg_try_advisory_lock(hashtextextended('cardbox.migrate', 0))
