-- delete_session: deletes a session, or continues that, up to `most` lines. Returns how many entries
-- were removed; NULL: there is no such session. more: call it again. A long session is deleted in
-- parts, each a short transaction. Until all are removed no session can be created under its id.
CREATE OR REPLACE FUNCTION cardbox.delete_session(
    tenant text, session text, most bigint, OUT entries bigint, OUT more boolean)
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE cardbox.sessions s SET state = 'deleted' WHERE s.tenant_id = tenant AND s.session_id = session;
    IF FOUND THEN
        SELECT p.entries, p.more INTO entries, more FROM cardbox.remove_session_part(tenant, session, most) AS p;
    END IF;
END
$$;
