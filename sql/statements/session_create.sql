-- Creates a session.
-- $1 text  tenant
-- $2 text  session
-- $3 text  dialect, or NULL
-- $4 json  header, or NULL
-- $5 bool  whether the session may already exist; false: the outcome of an existing session is exists
-- $6 bool  whether the id may be that of a deleted session
SELECT c.outcome, c.version
  FROM cardbox.create_session(
       $1::text, CASE WHEN $6::bool THEN cardbox.release_session_id($1::text, $2::text) ELSE $2::text END, $3::text,
       $4::json, NULL, $5::bool) AS c
