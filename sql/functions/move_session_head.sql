-- move_session_head: moves the head. `expected` is the entry that it must be at now ('': none,
-- NULL: any).
-- Outcomes: 1 done  2 it is there already  3 no such session  4 not the expected version
--   5 the head is elsewhere: at `head`  6 no such entry
CREATE OR REPLACE FUNCTION cardbox.move_session_head(
    tenant text, session text, entry text, expected text, expected_version bigint,
    OUT outcome integer, OUT version bigint, OUT head text)
LANGUAGE plpgsql
AS $$
DECLARE
    s    record;
    goal bigint;
BEGIN
    SELECT * INTO s FROM cardbox.sessions x
     WHERE x.tenant_id = tenant AND x.session_id = session FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 3;
        RETURN;
    END IF;
    version := s.version;
    SELECT e.entry_id INTO head FROM cardbox.session_entries e
     WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = s.head_seq;
    IF expected_version <> s.version THEN
        outcome := 4;
        RETURN;
    END IF;
    IF expected <> coalesce(head, '') THEN
        outcome := 5;
        RETURN;
    END IF;
    SELECT e.seq INTO goal FROM cardbox.session_entries e
     WHERE e.tenant_id = tenant AND e.session_key = session AND e.entry_id = entry;
    IF goal IS NULL THEN
        outcome := 6;
        RETURN;
    END IF;
    head := entry;
    outcome := CASE WHEN goal = s.head_seq THEN 2 ELSE 1 END;
    IF outcome = 1 THEN
        version := s.version + 1;
        UPDATE cardbox.sessions x
           SET head_seq = goal, version = move_session_head.version,
               updated_at = greatest(clock_timestamp(), x.updated_at)
         WHERE x.tenant_id = tenant AND x.session_id = session;
    END IF;
END
$$;
REVOKE ALL ON FUNCTION cardbox.move_session_head FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.move_session_head TO cardbox_service, cardbox_worker;
