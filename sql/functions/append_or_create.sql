-- append_or_create: appends entries to a session, and creates the session if it does not exist. If the append to a new
-- session fails, no session is created. The parameters, except the three below, and the outcomes are those of
-- append_entries(). If the session does not exist after the call, the version is 0 or NULL.
--   new_dialect  Dialect of the new session, or NULL. If the session exists and has another dialect, the outcome is
--                other_dialect.
--   new_header   Header of the new session, or NULL.
--   restores     Whether the id may be that of a deleted session. If the append fails, the deleted session keeps its id.
--
-- With an expected version, no session is created: the outcome is not_found.
CREATE OR REPLACE FUNCTION cardbox.append_or_create(
    tenant text, session text, given_dialect text, expected bigint, key text, ids text[],
    duplicate_of integer[], parents text[], refs integer[], types text[], roles text[], sets text[],
    targets text[], labels json[], contents json[], times bigint[], new_dialect text, new_header json, restores boolean,
    OUT outcome text, OUT version bigint, OUT outcomes text[], OUT lines bigint[])
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    stored  record;
    created text;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    SELECT s.dialect, s.version INTO stored FROM cardbox.sessions s
     WHERE s.tenant_id = tenant AND s.session_id = session AND s.state = 'live';
    IF stored.dialect <> new_dialect THEN
        outcome := 'other_dialect';
        version := stored.version;
        RETURN;
    END IF;
    SELECT * INTO outcome, version, outcomes, lines FROM cardbox.append_entries(
        tenant, session, given_dialect, expected, key, ids, duplicate_of, parents, refs, types, roles, sets, targets,
        labels, contents, times);
    IF outcome <> 'not_found' OR expected IS NOT NULL THEN
        RETURN;
    END IF;
    BEGIN
        IF restores THEN
            PERFORM cardbox.release_session_id(tenant, session);
        END IF;
        SELECT c.outcome, c.version INTO created, version
          FROM cardbox.create_session(tenant, session, new_dialect, new_header, NULL, true) AS c;
        IF created = 'other_dialect' THEN -- another transaction has created it meanwhile
            outcome := created;
            RETURN;
        END IF;
        SELECT * INTO outcome, version, outcomes, lines FROM cardbox.append_entries(
            tenant, session, given_dialect, expected, key, ids, duplicate_of, parents, refs, types, roles, sets,
            targets, labels, contents, times);
        IF created = 'created' AND outcome NOT IN ('done', 'unchanged') THEN
            RAISE EXCEPTION 'the append was rejected' USING ERRCODE = 'CB002';
        END IF;
    EXCEPTION WHEN SQLSTATE 'CB002' THEN
        version := 0; -- the block is rolled back, the variables keep their values
    END;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.append_or_create TO cardbox_worker;
ALTER FUNCTION cardbox.append_or_create OWNER TO cardbox_writer;
