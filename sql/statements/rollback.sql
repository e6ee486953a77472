-- Ends a transaction, and undoes its changes.
ROLLBACK
