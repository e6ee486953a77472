-- Completes a session of a project's export after its lines were written: see the function restore_session. The
-- parameters $3 to $7 may be NULL.
-- $1 text          tenant
-- $2 text          session
-- $3 text          dialect
-- $4 json          header
-- $5 json          name
-- $6 text          session from which the session was forked
-- $7 text          head
-- $8 int8          version
-- $9 timestamptz   created_at
-- $10 timestamptz  updated_at
SELECT 1::int8 AS number,
       cardbox.restore_session($1::text, $2::text, $3::text, $4::json, $5::json, $6::text, $7::text,
                               $8::int8, $9::timestamptz, $10::timestamptz) AS outcome
