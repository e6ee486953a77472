-- The migrations that were applied.
SELECT m.version, m.name, m.checksum FROM cardbox.migrations m ORDER BY m.version
