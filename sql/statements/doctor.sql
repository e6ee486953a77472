-- Who we are, and what that role could do that a service should not.
SELECT current_user::text, r.rolsuper, r.rolbypassrls,
       EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = 'cardbox' AND c.relkind = 'r' AND c.relowner = r.oid),
       pg_has_role(current_user, 'cardbox_service', 'MEMBER'),
       pg_has_role(current_user, 'cardbox_worker', 'MEMBER'),
       current_setting('server_version'), pg_is_in_recovery(), current_setting('jit') = 'off',
       current_database()::text, pg_database_size(current_database())
  FROM pg_roles r WHERE r.rolname = current_user
