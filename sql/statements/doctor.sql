-- Returns facts about the role, the settings and the database, for `cardbox doctor`.
SELECT current_user::text,
       pg_has_role('cardbox_service', 'USAGE'), pg_has_role('cardbox_worker', 'USAGE'),
       current_setting('server_version'), pg_is_in_recovery(),
       current_setting('default_transaction_read_only') = 'on', current_setting('server_encoding'),
       (SELECT s.reset_val FROM pg_settings s WHERE s.name = 'jit') = 'off' AND current_setting('random_page_cost')::float8 <= 1,
       current_setting('synchronous_commit') = 'off', current_setting('fsync') = 'off',
       current_setting('full_page_writes') = 'off',
       current_setting('synchronous_standby_names') <> '' AND NOT pg_is_in_recovery()
       AND current_setting('synchronous_commit') NOT IN ('off', 'local')
       AND NOT EXISTS (SELECT FROM pg_stat_replication),
       a.datname::text, a.age,
       current_database()::text, pg_database_size(current_database()),
       coalesce(current_setting('cardbox.dev', true), '') = 'on' -- set by dev_prepare.sql
  FROM (SELECT d.datname, greatest(age(d.datfrozenxid), mxid_age(d.datminmxid)) AS age
          FROM pg_database d ORDER BY age DESC LIMIT 1) AS a
