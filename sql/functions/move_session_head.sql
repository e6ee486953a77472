-- move_session_head: moves the head of a session to an entry.
--   expected          Id of the entry that must be the head; '': the session must have no head; NULL: any.
--   expected_version  Version that the session must have; NULL: any.
--
-- Outcomes are:
--   Outcome done: the head was moved.
--   Outcome unchanged: the entry already is the head.
--   Outcome not_found: there is no such session.
--   Outcome wrong_version: the session has another version than expected.
--   Outcome elsewhere: the head is not the expected one; the column `head` has the id of the head, or NULL if there is
--                  none.
--   Outcome no_entry: there is no such entry.
CREATE OR REPLACE FUNCTION cardbox.move_session_head(
    tenant text, session text, entry text, expected text, expected_version bigint,
    OUT outcome text, OUT version bigint, OUT head text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    s record;
    e record;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    SELECT * INTO s FROM cardbox.sessions x
     WHERE x.tenant_id = tenant AND x.session_id = session AND x.state = 'live' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 'not_found';
        RETURN;
    END IF;
    version := s.version;
    head := s.head_entry_id;
    SELECT x.line, x.branch, x.depth INTO e FROM cardbox.find_entry(tenant, session, entry) AS x;
    outcome := CASE WHEN expected_version <> s.version THEN 'wrong_version'
                    WHEN expected <> coalesce(head, '') THEN 'elsewhere' WHEN e.line IS NULL THEN 'no_entry'
                    WHEN e.line = s.head_line THEN 'unchanged' ELSE 'done' END;
    IF outcome = 'done' THEN
        head := entry;
        version := s.version + 1;
        UPDATE cardbox.sessions x
           SET head_line = e.line, head_entry_id = entry, head_branch = e.branch, head_depth = e.depth,
               head_is_leaf = cardbox.is_leaf(tenant, session, e.branch, e.depth),
               version = move_session_head.version, updated_at = greatest(clock_timestamp(), x.updated_at)
         WHERE x.tenant_id = tenant AND x.session_id = session;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.move_session_head TO cardbox_worker;
ALTER FUNCTION cardbox.move_session_head OWNER TO cardbox_writer;
