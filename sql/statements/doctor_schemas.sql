-- Lists the schemas of the role's default search_path in which other roles can create objects. The schema's
-- owner, superusers and roles that the current role is a member of do not count as other roles. After each schema, one
-- of the other roles is named in parentheses. Connections of CardBox do not use this search_path, except behind
-- poolers; psql does.
SELECT coalesce(string_agg(o.name || ' (' || o.who || ')', ', ' ORDER BY o.name), '')
  FROM (SELECT n.nspname::text AS name,
               min(CASE WHEN a.grantee = 0 THEN 'everybody' ELSE a.grantee::regrole::text END) AS who
          FROM pg_settings s
         CROSS JOIN unnest(string_to_array(s.reset_val, ',')) AS p (entry)
          JOIN pg_namespace n ON n.nspname = replace(btrim(p.entry, ' "'), '$user', current_user)
         CROSS JOIN aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) AS a
         WHERE s.name = 'search_path' AND a.privilege_type = 'CREATE'
           AND a.grantee <> n.nspowner
           AND (a.grantee = 0
                OR NOT (pg_has_role(current_user, a.grantee, 'MEMBER')
                        OR (SELECT r.rolsuper FROM pg_roles r WHERE r.oid = a.grantee)))
         GROUP BY n.nspname) AS o
