-- append_to_tree: appends entries anywhere in a session. The arrays and outcomes are those of append_entries().
--   s              The session's row, which the caller has locked.
--   given_dialect  Dialect of the session after the append, or NULL. If the head would be the parent, but there is no
--                  head, the entry is a root: in the dialect pi its parentId is null, else it has none.
CREATE OR REPLACE FUNCTION cardbox.append_to_tree(
    s cardbox.sessions, given_dialect text, ids text[], duplicate_of integer[], parents text[], refs integer[],
    types text[], roles text[], sets text[], targets text[], labels json[], contents json[],
    OUT outcome text, OUT version bigint, OUT outcomes text[], OUT lines bigint[])
LANGUAGE plpgsql
AS $$
DECLARE
    given   json[] := contents;
    stored  record;
    placed  record;
    missing text[];
    befores bytea[];
BEGIN
    version := s.version;
    outcomes := '{}';
    stored := cardbox.stored_entries(s.tenant_id, s.session_id, ids, contents, refs[1] = -1);
    IF refs[1] = -1 THEN
        refs[1] := 0;
        parents[1] := s.head_entry_id;
        IF s.head_entry_id IS NOT NULL OR given_dialect = 'pi' THEN
            contents[1] := cardbox.with_parent(s.head_entry_id, contents[1]);
        END IF;
    END IF;
    FOR i IN 1 .. coalesce(cardinality(ids), 0) LOOP
        outcomes[i] := CASE
            WHEN duplicate_of[i] > 0 THEN CASE WHEN outcomes[duplicate_of[i]] <> 'conflict'
                 AND given[i]::text = given[duplicate_of[i]]::text THEN 'unchanged' ELSE 'conflict' END
            WHEN stored.same[i] THEN 'unchanged' WHEN stored.lines[i] IS NOT NULL THEN 'conflict'
            ELSE 'appended' END;
    END LOOP;
    placed := cardbox.attach_entries(
        s, s.lines, outcomes, parents, refs, stored.lines, stored.branches, stored.depths);
    lines := placed.lines;
    missing := placed.missing;
    FOR i IN 1 .. coalesce(cardinality(ids), 0) LOOP
        lines[i] := coalesce(lines[i], lines[duplicate_of[i]]);
        CONTINUE WHEN outcomes[i] <> 'appended';
        outcomes[i] := CASE
            WHEN missing[i] IS NOT NULL THEN 'no_parent'
            WHEN types[i] = 'label' AND targets[i] <> ALL (ids[1 : i - 1])
                 AND NOT EXISTS (SELECT FROM cardbox.find_entry(s.tenant_id, s.session_id, targets[i])) THEN 'no_target'
            ELSE 'appended' END;
    END LOOP;
    outcome := CASE WHEN outcomes && '{conflict,no_parent,no_target}' THEN 'refused'
                    WHEN 'appended' = ANY (outcomes) THEN 'done' ELSE 'unchanged' END;
    IF outcome = 'done' THEN
        befores[array_position(outcomes, 'appended')] := CASE WHEN s.open_end THEN '\x0a'::bytea END;
        PERFORM cardbox.insert_lines(
            s.tenant_id, s.session_id, NULL, outcomes, lines, placed.branches, placed.depths, placed.parent_lines,
            missing, ids, types, roles, sets, targets, labels, contents, befores, NULL, NULL, NULL);
        version := cardbox.update_session(s, 1, given_dialect, NULL, false, outcomes, lines, placed.branches,
                                          placed.depths, ids, types, labels);
    END IF;
END
$$;
