-- How long what follows waits for a lock.
-- $1 text  milliseconds
-- $2 bool  until the transaction ends, and not as long as the session lives
SELECT set_config('lock_timeout', $1::text, $2::bool)
