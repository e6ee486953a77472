-- Creates a session from the path to an entry of another session: see the function fork_session.
-- $1 text  tenant
-- $2 text  session
-- $3 text  entry; '': the head
-- $4 text  id of the new session
SELECT f.outcome, f.version, f.entries
  FROM cardbox.fork_session($1::text, $2::text, $3::text, $4::text) AS f
