-- restore_session: completes a session that a project's import has written, and makes the session visible. Outcomes:
-- created; updated: the session had an older version; unchanged: the session had this version or a newer one; no_head.
-- Outcome no_head: no entry has the id `head`, so the session was not completed.
CREATE OR REPLACE FUNCTION cardbox.restore_session(
    tenant text, session text, given_dialect text, given_header json, given_name json, source text,
    head text, given_version bigint, created timestamptz, updated timestamptz)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    s record;
    h record;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    PERFORM cardbox.check_time(created), cardbox.check_time(updated);
    IF given_version NOT BETWEEN 1 AND 9007199254740991 THEN
        RAISE EXCEPTION 'the version of a session must be 1 to 9007199254740991'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM cardbox.lock_session_for_import(tenant, session, given_dialect, NULL, NULL, true);
    SELECT * INTO s FROM cardbox.sessions x WHERE x.tenant_id = tenant AND x.session_id = session;
    IF s.state = 'live' AND s.version >= given_version THEN
        RETURN 'unchanged';
    END IF;
    PERFORM cardbox.link_late_parents(tenant, session, '{}');
    SELECT x.line, x.branch, x.depth INTO h FROM cardbox.find_entry(tenant, session, head) AS x;
    IF h.line IS NULL AND head IS NOT NULL THEN
        RETURN 'no_head';
    END IF;
    UPDATE cardbox.sessions x
       SET state = 'live', dialect = given_dialect, header = given_header, name = given_name,
           forked_from = source, head_line = h.line, head_entry_id = head, head_branch = h.branch,
           head_depth = h.depth,
           head_is_leaf = CASE WHEN head IS NOT NULL THEN cardbox.is_leaf(tenant, session, h.branch, h.depth) END,
           version = given_version, created_at = coalesce(created, x.created_at),
           updated_at = coalesce(updated, x.updated_at)
     WHERE x.tenant_id = tenant AND x.session_id = session;
    RETURN CASE WHEN s.state = 'live' THEN 'updated' ELSE 'created' END;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.restore_session TO cardbox_worker;
ALTER FUNCTION cardbox.restore_session OWNER TO cardbox_writer;
