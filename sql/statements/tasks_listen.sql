-- Runs LISTEN for the channels of tenants: see the function.
-- $1 text[]  tenants; those that are not granted are skipped. NULL: all that the role may serve
SELECT cardbox.listen_for_tasks(CASE WHEN $1::text[] IS NOT NULL THEN cardbox.granted_tenants($1::text[]) END)
