-- Lists the roles that can log in, are direct members of cardbox_service or cardbox_worker, and have rights that break
-- the isolation of projects. After each role, such a right is in parentheses. The owners of the tables are left out,
-- because the owner of the database may be an administrator of both groups.
SELECT coalesce(string_agg(DISTINCT x.name || ' (' || x.excess || ')', ', '), '')
  FROM (SELECT r.rolname::text AS name,
               CASE WHEN r.rolsuper THEN 'superuser'
                    WHEN r.rolbypassrls THEN 'BYPASSRLS'
                    WHEN EXISTS (SELECT FROM pg_class c
                                  WHERE c.relnamespace = to_regnamespace('cardbox') AND c.relkind = 'r'
                                    AND pg_has_role(r.oid, c.relowner, 'MEMBER'))
                    THEN 'member of the owner of the tables'
                    WHEN EXISTS (SELECT FROM pg_roles w
                                  WHERE w.rolname = 'cardbox_writer' AND pg_has_role(r.oid, w.oid, 'MEMBER'))
                    THEN 'member of cardbox_writer'
               END AS excess
          FROM pg_auth_members m
          JOIN pg_roles g ON g.oid = m.roleid AND g.rolname IN ('cardbox_service', 'cardbox_worker')
          JOIN pg_roles r ON r.oid = m.member
         WHERE r.rolcanlogin
           AND NOT EXISTS (SELECT FROM pg_class c
                            WHERE c.relnamespace = to_regnamespace('cardbox') AND c.relkind = 'r'
                              AND c.relowner = r.oid)) AS x
 WHERE x.excess IS NOT NULL
