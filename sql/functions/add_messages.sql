-- add_messages: appends messages to a session like append_or_create(), with the settings of the request that they belong
-- to. If a setting differs from that on the path to the messages, an entry of the type settings is stored before them.
-- The parameters down to `times`, and the outcomes, are those of append_entries(). They concern the messages alone. Each
-- message continues the one before. The JSON of the first has no parentId: refs[1] is -1, or 0 if parents[1] is given.
-- If all messages are results, they follow results_end() of parents[1].
--   settings_id  Id of the entry with the settings; NULL: no settings are given.
--   format, system, tools, parameters  See changed_settings().
--   creates      Whether the session is created, in the dialect plain, if it does not exist and no version is expected.
--   restores     See append_or_create().
--
-- Outcome moved of the first message: the message was appended, now or by an earlier call with the key, but not after the
-- entry parents[1].
CREATE OR REPLACE FUNCTION cardbox.add_messages(
    tenant text, session text, given_dialect text, expected bigint, key text, ids text[],
    duplicate_of integer[], parents text[], refs integer[], types text[], roles text[], sets text[],
    targets text[], labels json[], contents json[], times bigint[], settings_id text, format text, system json,
    tools json, parameters json, creates boolean, restores boolean,
    OUT outcome text, OUT version bigint, OUT outcomes text[], OUT lines bigint[])
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    created text;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    PERFORM cardbox.check_lines(ids, duplicate_of, parents, refs, types, roles, sets, targets, labels, contents, true);
    IF (cardinality(ids) > 0 AND refs[1] IN (-1, 0) AND format IN ('openai', 'responses', 'anthropic')
        AND CASE WHEN settings_id IS NULL THEN num_nonnulls(system, tools, parameters) = 0
                 ELSE octet_length(settings_id) BETWEEN 1 AND 512 END) IS NOT TRUE THEN
        RAISE EXCEPTION 'the settings are not valid' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT * INTO outcome, version, outcomes, lines FROM cardbox.append_with_settings(
        tenant, session, given_dialect, expected, key, ids, duplicate_of, parents, refs, types, roles, sets, targets,
        labels, contents, times, settings_id, format, system, tools, parameters);
    IF refs[1] = 0 AND 'tool' = ALL (roles) AND outcome IN ('done', 'replayed')
       AND cardbox.parent_of_messages(tenant, session, lines[1], settings_id) <> parents[1] THEN
        outcomes[1] := 'moved';
    END IF;
    IF outcome <> 'not_found' OR expected IS NOT NULL OR creates IS NOT TRUE THEN
        RETURN;
    END IF;
    BEGIN
        IF restores THEN
            PERFORM cardbox.release_session_id(tenant, session);
        END IF;
        SELECT c.outcome, c.version INTO created, version
          FROM cardbox.create_session(tenant, session, 'plain', NULL, NULL, true) AS c;
        IF created = 'other_dialect' THEN -- another transaction has created it meanwhile
            outcome := created;
            RETURN;
        END IF;
        SELECT * INTO outcome, version, outcomes, lines FROM cardbox.append_with_settings(
            tenant, session, given_dialect, expected, key, ids, duplicate_of, parents, refs, types, roles, sets, targets,
            labels, contents, times, settings_id, format, system, tools, parameters);
        IF created = 'created' AND outcome NOT IN ('done', 'unchanged') THEN
            RAISE EXCEPTION 'the append was rejected' USING ERRCODE = 'CB002';
        END IF;
    EXCEPTION WHEN SQLSTATE 'CB002' THEN
        version := 0; -- the block is rolled back, the variables keep their values
    END;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.add_messages TO cardbox_worker;
ALTER FUNCTION cardbox.add_messages OWNER TO cardbox_writer;
