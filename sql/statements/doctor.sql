-- Who we are, and what the database is.
SELECT current_user::text,
       pg_has_role('cardbox_service', 'USAGE'), pg_has_role('cardbox_worker', 'USAGE'),
       current_setting('server_version'), pg_is_in_recovery(),
       current_setting('default_transaction_read_only') = 'on', current_setting('server_encoding'),
       current_setting('jit') = 'off' AND current_setting('random_page_cost')::float8 <= 1,
       current_setting('synchronous_commit') = 'off', current_setting('fsync') = 'off',
       current_setting('full_page_writes') = 'off',
       current_database()::text, pg_database_size(current_database()),
       coalesce(current_setting('cardbox.dev', true), '') = 'on' -- the mark of dev_mark.sql
