-- collect_sessions: the collector's part of deleting sessions: removes up to `most` entries of
-- deleted sessions that nobody else is removing.
CREATE OR REPLACE FUNCTION cardbox.collect_sessions(
    most bigint, OUT entries bigint, OUT entry_bytes bigint, OUT cards bigint, OUT card_bytes bigint,
    OUT more boolean)
LANGUAGE plpgsql
AS $$
DECLARE
    r record;
    p record;
BEGIN
    entries := 0;
    entry_bytes := 0;
    cards := 0;
    card_bytes := 0;
    more := false;
    WHILE entries < most LOOP
        SELECT x.tenant_id, x.session_id INTO r FROM cardbox.session_remains x
         WHERE NOT x.restoring LIMIT 1 FOR UPDATE SKIP LOCKED;
        EXIT WHEN NOT FOUND;
        SELECT * INTO p FROM cardbox.remove_session_part(r.tenant_id, r.session_id, most - entries);
        entries := entries + p.entries;
        entry_bytes := entry_bytes + p.entry_bytes;
        cards := cards + p.cards;
        card_bytes := card_bytes + p.card_bytes;
        more := p.more;
        EXIT WHEN more;
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION cardbox.collect_sessions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.collect_sessions TO cardbox_service;
