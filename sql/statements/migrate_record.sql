-- Records an applied migration.
-- $1 int4  version
-- $2 text  name
-- $3 text  checksum
-- $4 text  release
INSERT INTO cardbox.migrations (version, name, checksum, release)
VALUES ($1::int4, $2::text, $3::text, $4::text)
