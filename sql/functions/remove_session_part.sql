-- remove_session_part: removes up to max_rows lines and up to max_rows append keys of a deleted session, whose row the
-- caller has locked. If fewer than max_rows lines and fewer than max_rows keys were removed, the session's row gets the
-- state gone, or is removed if the session was never visible. Otherwise `more` is true.
CREATE OR REPLACE FUNCTION cardbox.remove_session_part(
    tenant text, session text, max_rows bigint, OUT entries bigint, OUT entry_bytes bigint, OUT more boolean)
LANGUAGE plpgsql
AS $$
DECLARE
    removed bigint;
BEGIN
    WITH gone AS (
        DELETE FROM cardbox.session_lines l
         WHERE l.ctid = ANY (ARRAY (SELECT x.ctid FROM cardbox.session_lines x
                                     WHERE x.tenant_id = tenant AND x.session_id = session
                                     ORDER BY x.line LIMIT max_rows))
        RETURNING l.entry_id, pg_column_size(l.*) AS bytes)
    SELECT count(g.entry_id), coalesce(sum(g.bytes), 0), count(*) INTO entries, entry_bytes, removed FROM gone g;
    more := removed >= max_rows;
    DELETE FROM cardbox.session_append_keys k
     WHERE k.ctid = ANY (ARRAY (SELECT x.ctid FROM cardbox.session_append_keys x
                                 WHERE x.tenant_id = tenant AND x.session_id = session
                                 ORDER BY x.append_key LIMIT max_rows));
    GET DIAGNOSTICS removed = ROW_COUNT;
    more := more OR removed >= max_rows;
    IF more THEN
        RETURN;
    END IF;
    DELETE FROM cardbox.sessions s WHERE s.tenant_id = tenant AND s.session_id = session AND s.deleted_at IS NULL;
    UPDATE cardbox.sessions s
       SET state = 'gone', dialect = NULL, header = NULL, name = NULL, forked_from = NULL, head_line = NULL,
           head_entry_id = NULL, head_branch = NULL, head_depth = NULL, head_is_leaf = NULL, lines = 0, entries = 0,
           open_end = false
     WHERE s.tenant_id = tenant AND s.session_id = session;
END
$$;
