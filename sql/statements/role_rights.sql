-- Who we are, and whether row-level security binds that role: superusers pass it, those with
-- BYPASSRLS too, and an owner, or who may act as one, can switch it off. And whether nobody may write here,
-- since the server is a standby.
SELECT current_user::text, r.rolsuper, r.rolbypassrls,
       EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = 'cardbox' AND c.relkind = 'r'
                  AND (c.relowner = r.oid
                       OR (NOT r.rolsuper AND pg_has_role(r.oid, c.relowner, 'MEMBER')))),
       pg_is_in_recovery()
  FROM pg_roles r WHERE r.rolname = current_user
