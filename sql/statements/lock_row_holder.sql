-- Finds another session that holds the lock of a row of lock_rows. The columns are those of lock_holder, then the
-- transaction id of the lock's holder, which differs for each transaction that locks the row. If the holder waits for a
-- third session, the first three columns describe the third session. If no other session holds the lock, no row is
-- returned.
-- $1 text  name of the lock; its row has an empty tenant_id
SELECT format('session %s (%s) has it%s; wait until it ends, or end it: SELECT pg_terminate_backend(%s)',
              a.pid, coalesce(nullif(a.application_name, ''), 'of no name'),
              ' in a transaction of ' || extract(epoch FROM clock_timestamp() - a.xact_start)::int8 || ' s, ' || a.state
              || ', "' || left(btrim(regexp_replace(a.query, '\s+', ' ', 'g'), ' ;'), 100) || '"', a.pid),
       a.pid, coalesce(a.application_name, ''), k.xmax::text::int8
  FROM cardbox.lock_rows k
  JOIN pg_locks l
    ON l.locktype = 'transactionid' AND l.transactionid = k.xmax AND l.mode = 'ExclusiveLock' AND l.granted
  JOIN pg_stat_activity a ON a.pid = coalesce((pg_blocking_pids(l.pid))[1], l.pid)
 WHERE k.tenant_id = '' AND k.name = $1::text AND l.pid <> pg_backend_pid()
