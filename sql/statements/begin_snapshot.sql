-- Opens a read-only transaction that sees one moment, for exports.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY
