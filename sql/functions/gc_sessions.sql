-- gc_sessions: gc's part of deleting sessions: removes up to `most` lines of deleted sessions
-- that nobody else is removing.
CREATE OR REPLACE FUNCTION cardbox.gc_sessions(
    most bigint, OUT entries bigint, OUT entry_bytes bigint, OUT more boolean)
LANGUAGE plpgsql
AS $$
DECLARE
    s record;
    p record;
BEGIN
    entries := 0;
    entry_bytes := 0;
    more := false;
    WHILE entries < most LOOP
        SELECT x.tenant_id, x.session_id INTO s FROM cardbox.sessions x
         WHERE x.state = 'deleted' LIMIT 1 FOR UPDATE SKIP LOCKED;
        EXIT WHEN NOT FOUND;
        SELECT * INTO p FROM cardbox.remove_session_part(s.tenant_id, s.session_id, most - entries);
        entries := entries + p.entries;
        entry_bytes := entry_bytes + p.entry_bytes;
        more := p.more;
        EXIT WHEN more;
    END LOOP;
END
$$;
