-- gc_sessions: removes the remaining lines of deleted sessions. Skips sessions that another transaction has locked. Part
-- of gc_batch().
CREATE OR REPLACE FUNCTION cardbox.gc_sessions(INOUT totals cardbox.gc_totals)
LANGUAGE plpgsql
AS $$
DECLARE
    s record;
    p record;
BEGIN
    WHILE totals.rows_left > 0 LOOP
        SELECT x.tenant_id, x.session_id INTO s FROM cardbox.sessions x
         WHERE x.state = 'deleted' LIMIT 1 FOR UPDATE SKIP LOCKED;
        EXIT WHEN NOT FOUND;
        SELECT * INTO p FROM cardbox.remove_session_part(s.tenant_id, s.session_id, totals.rows_left);
        totals.entries := totals.entries + p.entries;
        totals.entry_bytes := totals.entry_bytes + p.entry_bytes;
        totals.rows_left := totals.rows_left - p.entries;
        totals.more := totals.more OR p.more;
        EXIT WHEN p.more;
    END LOOP;
END
$$;
