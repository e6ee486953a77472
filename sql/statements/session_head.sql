-- Moves the head of a session.
-- $1 text  tenant
-- $2 text  session
-- $3 text  entry
-- $4 text  entry that the head must be at, or NULL
-- $5 int8  expected version, or NULL
SELECT m.outcome, m.version, m.head
  FROM cardbox.move_session_head($1::text, $2::text, $3::text, $4::text, $5::int8) AS m
