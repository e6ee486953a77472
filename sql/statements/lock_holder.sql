-- Finds another session that holds a lock which may block this session. Returns a description, the pid and the
-- application_name of the holder, or no row if there is no holder. If several sessions hold such locks, one session is
-- returned: first one whose transaction is not known, then the one with the oldest transaction. The holder's query is
-- visible only with the rights of the holder's role or of pg_read_all_stats.
-- $1 text  name of an advisory lock; NULL: locks of CardBox's tables
-- $2 bool  if $1 is NULL: whether locks of reading statements (ACCESS SHARE) count too
SELECT format('session %s (%s) has it%s; wait until it ends, or end it: SELECT pg_terminate_backend(%s)',
              a.pid, coalesce(nullif(a.application_name, ''), 'of no name'),
              ' in a transaction of ' || extract(epoch FROM clock_timestamp() - a.xact_start)::int8 || ' s, ' || a.state
              || ', "' || left(btrim(regexp_replace(a.query, '\s+', ' ', 'g'), ' ;'), 100) || '"', a.pid),
       a.pid, coalesce(a.application_name, '')
  FROM pg_locks l
  JOIN pg_stat_activity a ON a.pid = l.pid
  LEFT JOIN pg_class c ON c.oid = l.relation
 WHERE l.granted AND l.pid <> pg_backend_pid()
   AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
   AND CASE WHEN $1::text IS NULL
            THEN c.relnamespace = to_regnamespace('cardbox') AND ($2::bool OR l.mode <> 'AccessShareLock')
            ELSE l.locktype = 'advisory' AND l.objsubid = 1
                 AND l.classid = ((hashtextextended($1::text, 0) >> 32) & 4294967295)::oid
                 AND l.objid = (hashtextextended($1::text, 0) & 4294967295)::oid
       END
 ORDER BY a.xact_start NULLS FIRST
 LIMIT 1
