-- Runs LISTEN for the notification channels of tenants: see the function listen_for_tasks.
-- $1 text[]  tenants; tenants that are not granted are skipped; NULL: all tenants that the role sees
SELECT cardbox.listen_for_tasks(CASE WHEN $1::text[] IS NOT NULL THEN cardbox.granted_tenants($1::text[]) END)
