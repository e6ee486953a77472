-- Appends ids to a box.
-- $1 text tenant, $2 uuid box, $3 jsonb ids, $4 int8 expected version or NULL, $5 text key or NULL
SELECT c.outcome, c.version, c.length
  FROM cardbox.append_to_box($1::text, $2::uuid, $3::jsonb, $4::int8, $5::text) AS c
