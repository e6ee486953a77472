-- Makes statements fail if row-level security would hide rows, until the transaction ends.
SELECT set_config('row_security', 'off', true)
