-- gc_session_ids: removes the rows of sessions that were deleted longer ago than the retention. Skips rows that another
-- transaction has locked. Part of gc_batch().
CREATE OR REPLACE FUNCTION cardbox.gc_session_ids(INOUT totals cardbox.gc_totals, retention bigint)
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    removed bigint;
BEGIN
    DELETE FROM cardbox.sessions s
     WHERE s.ctid = ANY (ARRAY (SELECT x.ctid FROM cardbox.sessions x
                                 WHERE x.state = 'gone'
                                   AND x.deleted_at <= statement_timestamp() - make_interval(secs => retention)
                                 ORDER BY x.deleted_at LIMIT totals.rows_left FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS removed = ROW_COUNT;
    totals.rows_left := totals.rows_left - removed;
    totals.more := totals.more OR totals.rows_left <= 0;
END
$$;
