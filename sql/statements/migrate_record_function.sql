-- Records an applied function.
-- $1 text  name
-- $2 text  checksum
-- $3 text  release
INSERT INTO cardbox.functions (name, checksum, release) VALUES ($1::text, $2::text, $3::text)
ON CONFLICT (name) DO UPDATE
   SET checksum = excluded.checksum, release = excluded.release, applied_at = excluded.applied_at
