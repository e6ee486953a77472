-- Asks PostgreSQL to fail rather than to let row-level security take rows away, until the transaction
-- ends.
SELECT set_config('row_security', 'off', true)
