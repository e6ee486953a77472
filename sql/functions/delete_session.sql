-- delete_session: deletes up to max_lines lines of a session. Returns the number of removed entries, or NULL if there
-- is nothing to delete. If `more` is true, the caller repeats the call: several short transactions delete a long
-- session. Until the session is deleted completely, no other session with its id can be created.
--   continues  Whether the caller has deleted a part before. If gc or another caller has removed the rest since then,
--              and a new session has this id, the new session is not deleted.
CREATE OR REPLACE FUNCTION cardbox.delete_session(
    tenant text, session text, max_lines bigint, continues boolean, OUT entries bigint, OUT more boolean)
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE cardbox.sessions s SET state = 'deleted'
     WHERE s.tenant_id = tenant AND s.session_id = session AND (NOT continues OR s.state = 'deleted');
    IF FOUND THEN
        SELECT p.entries, p.more INTO entries, more FROM cardbox.remove_session_part(tenant, session, max_lines) AS p;
    END IF;
END
$$;
