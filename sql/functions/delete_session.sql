-- delete_session: deletes a session, or continues that, up to `most` entries. Returns how many
-- entries and cards were removed; entries NULL: there is no such session, and nothing left of one.
-- more: call it again.
CREATE OR REPLACE FUNCTION cardbox.delete_session(
    tenant text, session text, most bigint, OUT entries bigint, OUT cards bigint, OUT more boolean)
LANGUAGE plpgsql
AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'deleting a session needs the isolation level read committed'
            USING ERRCODE = 'invalid_transaction_state';
    END IF;
    DELETE FROM cardbox.sessions s WHERE s.tenant_id = tenant AND s.session_id = session;
    IF FOUND THEN
        INSERT INTO cardbox.session_remains (tenant_id, session_id) VALUES (tenant, session);
    ELSE
        PERFORM FROM cardbox.session_remains r
          WHERE r.tenant_id = tenant AND r.session_id = session FOR UPDATE;
        IF NOT FOUND THEN
            RETURN;
        END IF;
        UPDATE cardbox.session_remains r SET restoring = false
         WHERE r.tenant_id = tenant AND r.session_id = session AND r.restoring;
    END IF;
    SELECT p.entries, p.cards, p.more INTO entries, cards, more
      FROM cardbox.remove_session_part(tenant, session, most) AS p;
END
$$;
REVOKE ALL ON FUNCTION cardbox.delete_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.delete_session TO cardbox_service;
