-- Forks a box.
-- $1 text tenant, $2 uuid box, $3 uuid new box, $4 int8 at version or NULL, $5 int8 at length or NULL
SELECT c.outcome, c.version, c.length
  FROM cardbox.fork_box($1::text, $2::uuid, $3::uuid, $4::int8, $5::int8) AS c
