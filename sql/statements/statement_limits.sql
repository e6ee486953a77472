-- Limits for what follows in the same transaction, and no longer.
-- $1 text  milliseconds that a statement may take
-- $2 text  milliseconds that it may wait for a lock; 0: any time
SELECT set_config('statement_timeout', $1::text, true), set_config('lock_timeout', $2::text, true)
