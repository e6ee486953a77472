-- Rolls back a transaction of the SDK.
ROLLBACK
