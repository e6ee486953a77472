-- Rolls back a transaction of the SDK or of a migration.
ROLLBACK
