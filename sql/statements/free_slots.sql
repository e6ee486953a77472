-- Estimates how many further connections PostgreSQL accepts from this role to this database. The limits are
-- max_connections without the reserved connections, and CONNECTION LIMIT of the database and of the role. Parallel
-- workers are counted like connections. The statement uses only columns of pg_stat_activity that every role can see.
SELECT least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
               - coalesce(current_setting('reserved_connections', true)::int, 0) - s.all_sessions,
             CASE WHEN d.datconnlimit >= 0 THEN d.datconnlimit - s.of_database END,
             CASE WHEN r.rolconnlimit >= 0 THEN r.rolconnlimit - s.of_role END)::int
  FROM pg_database d, pg_roles r,
       LATERAL (SELECT count(*) AS all_sessions, count(*) FILTER (WHERE a.datid = d.oid) AS of_database,
                       count(*) FILTER (WHERE a.usesysid = r.oid) AS of_role
                  FROM pg_stat_activity a WHERE a.datid IS NOT NULL AND a.usesysid IS NOT NULL) s
 WHERE d.datname = current_database() AND r.rolname = session_user
