-- fork_session: creates a session from the path to the entry `entry`; '': to the head. Copies the entries of the path
-- as lines, which come after the header if there is one. If an entry's JSON has no id, the id and parentId are added at
-- its end. If the JSON of a compaction has only a line number for the first kept entry, firstKeptEntryId is added.
-- Outcomes: done; not_found: no such session; no_entry: no such entry or no head; exists: the id new_session is used.
CREATE OR REPLACE FUNCTION cardbox.fork_session(
    tenant text, session text, entry text, new_session text,
    OUT outcome text, OUT version bigint, OUT entries bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    s          record;
    leaf       bigint;
    deep       integer;
    made       timestamptz := clock_timestamp();
    new_header json;
    first      bigint;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    SELECT * INTO s FROM cardbox.sessions x
     WHERE x.tenant_id = tenant AND x.session_id = session AND x.state = 'live';
    IF NOT FOUND THEN
        outcome := 'not_found';
        RETURN;
    END IF;
    entry := CASE WHEN entry = '' THEN s.head_entry_id ELSE entry END;
    SELECT e.line, e.depth INTO leaf, deep FROM cardbox.find_entry(tenant, session, entry) AS e;
    IF leaf IS NULL THEN
        outcome := 'no_entry';
        RETURN;
    END IF;
    IF s.header IS NOT NULL THEN
        new_header := cardbox.fork_header(s.header, new_session, session, made);
    END IF;
    SELECT c.outcome, c.version INTO outcome, version
      FROM cardbox.create_session(tenant, new_session, s.dialect, new_header, session, false) AS c;
    IF outcome <> 'created' THEN
        RETURN;
    END IF;
    first := (new_header IS NOT NULL)::integer;
    entries := cardbox.copy_path(tenant, session, leaf, new_session, first);
    IF entries <> deep + 1 THEN
        RAISE EXCEPTION 'session % was changed while it was copied: try again', session USING ERRCODE = 'CB001';
    END IF;
    outcome := 'done';
    UPDATE cardbox.sessions x
       SET lines = first + fork_session.entries, entries = fork_session.entries,
           head_line = first + deep, head_branch = first, head_depth = deep, head_is_leaf = true,
           head_entry_id = entry,
           name = (SELECT l.label FROM cardbox.session_lines l
                    WHERE l.tenant_id = tenant AND l.session_id = new_session
                      AND l.type = 'session_info' AND l.label IS NOT NULL
                    ORDER BY l.line DESC LIMIT 1)
     WHERE x.tenant_id = tenant AND x.session_id = new_session;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.fork_session TO cardbox_worker;
ALTER FUNCTION cardbox.fork_session OWNER TO cardbox_writer;
