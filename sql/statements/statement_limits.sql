-- Sets limits for the following statements of the transaction.
-- $1 text  statement_timeout in milliseconds; 0: no limit
-- $2 text  lock_timeout in milliseconds; 0: no limit
SELECT set_config('statement_timeout', $1::text, true), set_config('lock_timeout', $2::text, true)
