-- Commits a transaction of the SDK or of a migration.
COMMIT
