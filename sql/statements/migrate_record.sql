-- $1 int4 version, $2 text name, $3 text checksum
INSERT INTO cardbox.migrations (version, name, checksum) VALUES ($1::int4, $2::text, $3::text)
