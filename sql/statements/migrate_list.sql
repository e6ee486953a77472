-- Lists the applied migrations.
SELECT m.version, m.name, m.checksum FROM cardbox.migrations m ORDER BY m.version
