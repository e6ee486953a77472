-- Begins a read-only transaction with one snapshot, for exports.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY
