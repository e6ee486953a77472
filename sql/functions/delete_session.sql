-- delete_session: deletes up to max_lines lines of a session. Returns the number of removed entries, or NULL if there
-- is nothing to delete. If `more` is true, the caller repeats the call: several short transactions delete a long
-- session. The row of the session keeps the id until gc removes the row after the retention period, or until
-- release_session_id() is called.
--   continues  Whether the caller has deleted a part before. If gc or another caller has removed the rest since then,
--              and a new session has this id, the new session is not deleted.
CREATE OR REPLACE FUNCTION cardbox.delete_session(
    tenant text, session text, max_lines bigint, continues boolean, OUT entries bigint, OUT more boolean)
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE cardbox.sessions s
       SET state = 'deleted', deleted_at = CASE WHEN s.state = 'live' THEN clock_timestamp() ELSE s.deleted_at END
     WHERE s.tenant_id = tenant AND s.session_id = session AND s.state <> 'gone'
       AND (NOT continues OR s.state = 'deleted');
    IF FOUND THEN
        PERFORM cardbox.release_usage(tenant, session);
        SELECT p.entries, p.more INTO entries, more FROM cardbox.remove_session_part(tenant, session, max_lines) AS p;
    END IF;
END
$$;
