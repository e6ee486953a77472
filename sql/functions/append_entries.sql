-- append_entries: appends entries to a session, either all new ones or none. Locks the session's row. The arrays are
-- parallel: one element for each entry.
--   duplicate_of  Index from 1 of an earlier element with the same id; 0: none.
--   parents       Id of the parent; NULL: the entry is a root.
--   refs          Index from 1 of an earlier element that is the parent; 0: the parent is looked up by its id. The
--                 first element may be -1: the parent is the session's head, whose id is added to the entry's JSON as
--                 parentId. A session without a head makes the entry a root. If the first entry is already stored, its
--                 parent stays the same, so that a request can be repeated.
--   types, roles, sets, targets, labels  Columns of session_lines.
--   contents      JSON of the entry.
--   times         Time in milliseconds since 1970 that is added to the JSON as timestamp, in the format of the
--                 session's dialect; NULL: none is added.
--   expected      Version that the session must have, unless `key` was used before; NULL: any.
--   key           Idempotency key, or NULL.
--
-- Outcomes of the call are:
--   Outcome done: at least one entry was appended.
--   Outcome unchanged: no entry is new.
--   Outcome replayed: the key was used before for entries with the same JSON.
--   Outcome key_reused: the key was used before for other entries.
--   Outcome not_found: there is no such session.
--   Outcome wrong_version: the session has another version than expected.
--   Outcome other_dialect: the session has another dialect than given_dialect, and it has a header or entries.
--   Outcome refused: at least one entry was rejected, so no entry was appended.
--
-- Outcomes of an entry are:
--   Outcome appended: the entry is new. If the outcome of the call is refused, the entry was not appended.
--   Outcome unchanged: the same entry is already stored, or is an earlier element.
--   Outcome conflict: a stored entry or an earlier element has the entry's id, but other content.
--   Outcome no_parent: the entry's parent is not stored, and is not an earlier element.
--   Outcome no_target: the entry is a label, and the labelled entry is not stored and is not an earlier element.
CREATE OR REPLACE FUNCTION cardbox.append_entries(
    tenant text, session text, given_dialect text, expected bigint, key text, ids text[],
    duplicate_of integer[], parents text[], refs integer[], types text[], roles text[], sets text[],
    targets text[], labels json[], contents json[], times bigint[],
    OUT outcome text, OUT version bigint, OUT outcomes text[], OUT lines bigint[])
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    s        cardbox.sessions;
    allowed  record;
    appended record;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    PERFORM cardbox.check_lines(ids, duplicate_of, parents, refs, types, roles, sets, targets, labels, contents, true);
    IF array_dims(times) IS DISTINCT FROM array_dims(contents) THEN
        RAISE EXCEPTION 'times must have one element for each entry' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT * INTO s FROM cardbox.sessions x
     WHERE x.tenant_id = tenant AND x.session_id = session AND x.state = 'live' FOR NO KEY UPDATE;
    allowed := cardbox.check_append(s, given_dialect, expected, key, contents);
    outcome := allowed.outcome;
    version := allowed.version;
    IF outcome = 'replayed' THEN
        lines := (cardbox.stored_entries(tenant, session, ids, contents, refs[1] = -1)).lines;
        outcomes := array_fill('unchanged'::text, ARRAY[cardinality(ids)]);
    END IF;
    IF outcome IS NOT NULL THEN
        RETURN;
    END IF;
    given_dialect := CASE WHEN s.entries > 0 OR s.header IS NOT NULL THEN coalesce(s.dialect, given_dialect)
                          ELSE coalesce(given_dialect, s.dialect) END;
    IF array_remove(times, NULL) <> '{}' THEN
        contents := cardbox.with_timestamps(given_dialect, contents, times);
    END IF;
    IF cardinality(ids) = 1 AND cardbox.append_to_head(
           s, given_dialect, ids[1], parents[1], refs[1], types[1], roles[1], sets[1], targets[1], labels[1],
           contents[1]) THEN
        outcome := 'done';
        version := s.version + 1;
        outcomes := '{appended}';
        lines := ARRAY[s.lines];
    ELSE
        appended := cardbox.append_to_tree(
            s, given_dialect, ids, duplicate_of, parents, refs, types, roles, sets, targets, labels, contents);
        outcome := appended.outcome;
        version := appended.version;
        outcomes := appended.outcomes;
        lines := appended.lines;
    END IF;
    IF key IS NOT NULL AND outcome <> 'refused' THEN
        INSERT INTO cardbox.session_append_keys (tenant_id, session_id, append_key, digest, version)
        VALUES (tenant, session, key, sha256(convert_to(array_to_string(contents, E'\n'), 'UTF8')), version);
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.append_entries TO cardbox_worker;
ALTER FUNCTION cardbox.append_entries OWNER TO cardbox_writer;
