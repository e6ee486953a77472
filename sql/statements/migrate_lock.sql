-- Takes the lock that one `cardbox migrate` at a time holds on this database, until its session
-- ends. False: another one has it. Asked for again and again rather than waited for, because CREATE
-- INDEX CONCURRENTLY waits for every statement that has begun, also for one that waits for a lock.
-- $1 text  its name
SELECT pg_try_advisory_lock(hashtextextended($1::text, 0))
