-- Returns the current role, and whether it has rights that break the isolation of projects. Superusers and roles with
-- BYPASSRLS bypass row-level security, owners of tables can disable it, and members of cardbox_writer can write to
-- every project. The last column is whether the server is a standby, where nobody can write.
SELECT current_user::text, r.rolsuper, r.rolbypassrls,
       EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = 'cardbox' AND c.relkind = 'r'
                  AND (c.relowner = r.oid
                       OR (NOT r.rolsuper AND pg_has_role(r.oid, c.relowner, 'MEMBER')))),
       EXISTS (SELECT FROM pg_roles w WHERE w.rolname = 'cardbox_writer' AND pg_has_role(r.oid, w.oid, 'MEMBER')),
       pg_is_in_recovery()
  FROM pg_roles r WHERE r.rolname = current_user
