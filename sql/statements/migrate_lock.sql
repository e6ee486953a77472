-- Waits until no other `cardbox migrate` works on this database; held until the session ends.
SELECT pg_advisory_lock(hashtextextended('cardbox.migrate', 0))
