-- Sets lock_timeout.
-- $1 text  milliseconds
-- $2 bool  true: the value is valid until the transaction ends; false: until the session ends
SELECT set_config('lock_timeout', $1::text, $2::bool)
