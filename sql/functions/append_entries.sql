-- append_entries: appends entries to a session, all or nothing, and locks its row. The arrays are
-- parallel, one element an entry:
--   duplicate_of  number, from 1, of an earlier entry here with the same id; 0: none.
--   parents       the parent's id; NULL: a root.
--   refs          number of an earlier entry here that is the parent; 0: the parent is looked up.
--                 The first may be -1: the head, which is then written into the entry's JSON. An entry
--                 that is in the session keeps its parent, so that it can be sent again.
-- Outcomes of the whole: done; unchanged: all entries are in the session; replayed: the key was used
--   for the same entries; not_found, wrong_version, key_reused, other_dialect; refused: an entry was.
-- Outcomes of an entry: appended; unchanged: it is in the session; conflict: its id is, with other
--   content; no_parent, no_target: the parent, or the entry to be labelled, is not in the session or
--   before it here.
CREATE OR REPLACE FUNCTION cardbox.append_entries(
    tenant text, session text, given_dialect text, expected bigint, key text, ids text[],
    duplicate_of integer[], parents text[], refs integer[], types text[], roles text[], sets text[],
    targets text[], labels json[], contents json[],
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
    IF cardinality(ids) = 1 AND cardbox.append_to_head(
           s, given_dialect, ids[1], parents[1], refs[1], types[1], roles[1], sets[1], targets[1], labels[1], contents[1]) THEN
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
