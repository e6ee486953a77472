-- fork_held_session: fork_session() of a session that nobody deletes meanwhile. Same outcomes.
CREATE OR REPLACE FUNCTION cardbox.fork_held_session(
    tenant text, session text, entry text, new_session text,
    OUT outcome integer, OUT version bigint, OUT entries bigint)
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM FROM cardbox.sessions s
      WHERE s.tenant_id = tenant AND s.session_id = session FOR KEY SHARE;
    SELECT f.outcome, f.version, f.entries INTO outcome, version, entries
      FROM cardbox.fork_session(tenant, session, entry, new_session) AS f;
END
$$;
REVOKE ALL ON FUNCTION cardbox.fork_held_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.fork_held_session TO cardbox_service, cardbox_worker;
