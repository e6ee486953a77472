-- Ends a transaction that failed or is not wanted.
ROLLBACK
