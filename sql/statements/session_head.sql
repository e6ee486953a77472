-- Moves the head of a session to an entry: see the function move_session_head.
-- $1 text  tenant
-- $2 text  session
-- $3 text  entry
-- $4 text  entry that must be the head now; '': there must be none; NULL: any
-- $5 int8  expected version; NULL: any version
SELECT m.outcome, m.version, m.head
  FROM cardbox.move_session_head($1::text, $2::text, $3::text, $4::text, $5::int8) AS m
