-- append_entries: appends entries to a session, all or nothing, and locks its row. The arrays are
-- parallel, one element an entry:
--   duplicate_of    place, from 1, of an earlier entry here with the same id; 0: none
--   parents  the parent's id; NULL: a root
--   refs     place of an earlier entry here that is the parent; 0: it is looked up; -1, of the first
--            one: the head, which is then written into the entry's JSON. An entry that is in the
--            session keeps its parent, so that it can be sent again
-- Outcomes of the whole: done; unchanged: all entries are in the session; replayed: the key was used
--   for the same entries; not_found, wrong_version, key_reused, other_dialect; refused: an entry was
-- Outcomes of an entry: appended; unchanged: it is in the session; conflict: its id is, with other
--   content; no_parent, no_target: the parent, or the entry to be labelled, is neither in the session
--   nor before it
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
    given    json[] := contents;
    branches bigint[];
    depths   integer[];
    same     boolean[];
    ups      bigint[];
    missing  text[];
    befores  bytea[];
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    PERFORM cardbox.check_lines(ids, duplicate_of, parents, refs, types, roles, sets, targets, labels, contents, true);
    SELECT * INTO s FROM cardbox.sessions x
     WHERE x.tenant_id = tenant AND x.session_id = session AND x.state = 'live' FOR NO KEY UPDATE;
    SELECT c.outcome, c.version INTO outcome, version
      FROM cardbox.check_append(s, given_dialect, expected, key, given) AS c;
    IF outcome <> 'replayed' THEN
        RETURN;
    END IF;
    SELECT k.lines, k.branches, k.depths, k.same INTO lines, branches, depths, same
      FROM cardbox.known_entries(tenant, session, ids, contents, refs[1] = -1) AS k;
    IF outcome = 'replayed' THEN
        outcomes := array_fill('unchanged'::text, ARRAY[cardinality(ids)]);
        RETURN;
    END IF;
    IF refs[1] = -1 THEN
        refs[1] := 0;
        parents[1] := s.head_entry_id;
        contents[1] := cardbox.with_parent(s.head_entry_id, contents[1]);
    END IF;
    outcomes := ARRAY(
        SELECT CASE WHEN same[i] THEN 'unchanged' WHEN lines[i] IS NOT NULL THEN 'conflict'
                    WHEN duplicate_of[i] = 0 THEN 'appended'
                    WHEN given[i]::text = given[duplicate_of[i]]::text THEN 'unchanged' ELSE 'conflict' END
          FROM generate_series(1, cardinality(ids)) AS g(i));
    lines := cardbox.number_lines(s.lines, outcomes, lines);
    SELECT p.branches, p.depths, p.parent_lines, p.missing INTO branches, depths, ups, missing
      FROM cardbox.place_entries(s, outcomes, parents, refs, lines, branches, depths) AS p;
    outcomes := cardbox.refuse_entries(tenant, session, outcomes, missing, ids, types, targets);
    outcome := CASE WHEN outcomes && '{conflict,no_parent,no_target}' THEN 'refused'
                    WHEN 'appended' = ANY (outcomes) THEN 'done' ELSE 'unchanged' END;
    IF outcome = 'done' THEN
        befores[array_position(outcomes, 'appended')] := CASE WHEN s.open_end THEN '\x0a'::bytea END;
        PERFORM cardbox.insert_lines(tenant, session, NULL, outcomes, lines, branches, depths, ups, missing,
            ids, types, roles, sets, targets, labels, contents, befores, NULL, NULL, NULL);
        version := cardbox.update_session(s, 1, given_dialect, NULL, false, outcomes, lines, branches, depths,
                                          ids, types, labels);
    END IF;
    IF key IS NOT NULL AND outcome <> 'refused' THEN
        INSERT INTO cardbox.session_append_keys (tenant_id, session_id, append_key, digest, version)
        VALUES (tenant, session, key, sha256(convert_to(array_to_string(given, E'\n'), 'UTF8')), version);
    END IF;
END
$$;
REVOKE ALL ON FUNCTION cardbox.append_entries FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.append_entries TO cardbox_service, cardbox_worker;
ALTER FUNCTION cardbox.append_entries OWNER TO cardbox_writer;
