-- import_lines: writes lines of a file to a session, and locks the session's row. First the lines of the file are
-- compared with the session's lines. If these are equal, all lines of the file after the session's end are written. If
-- the file differs from the session, only new entries are written, or nothing if `restores` is true. The arrays are
-- parallel: one element for each line.
--   since, file_id, restores  See lock_session_for_import().
--   start, diverged_at  See compare_lines().
--   ids              Id of the entry; NULL: the line is not an entry.
--   duplicate_of     Index from 1 of an earlier element with the same id; 0: none.
--   parents, refs    See attach_entries().
--   types            Type of the entry; session: the line is a header; NULL: the line is not an entry and not a header.
--   roles, sets, targets, labels  Columns of session_lines; NULL if the line is not an entry.
--   indexes          See compaction_targets().
--   contents         JSON of an entry or a header; NULL: `befores` has the whole line.
--   befores, afters  Bytes before and after the JSON; NULL: nothing before, a line feed after.
--   made_ids         Whether the JSON has no id, so that the id in `ids` was made for it.
--
-- Outcomes of the call: done; unchanged: nothing was written. The result `made` is the creation time of the session,
-- which the caller passes as `since` with the next batch.
--
-- Outcomes of a line are:
--   Outcome appended: the line is a new entry.
--   Outcome unchanged: the line, or an entry with the same id and JSON, is already stored or is an earlier line.
--   Outcome kept: the line was stored as bytes: it is not an entry, or its id is already used.
--   Outcome not_kept: the line was not stored: the file differs from the session, and the line is not an entry or
--     its id is used with other JSON.
--   Outcome differs: the line was not stored: the session is being restored, and this line or an earlier one
--     differs.
--
-- Issues of a line are:
--   duplicate  An earlier line has this id, with the same JSON.
--   conflict   An earlier line or a stored entry has this id, with other JSON.
--   dangling   The entry's parent is not stored yet (see link_late_parents()), or its parentId is not an id.
--   not_kept   The file differs from the session, and the line is not an entry and not the session's header.
CREATE OR REPLACE FUNCTION cardbox.import_lines(
    tenant text, session text, given_dialect text, since timestamptz, file_id text, restores boolean, start bigint,
    ids text[], duplicate_of integer[], parents text[], refs integer[], types text[], roles text[], sets text[],
    targets text[], indexes bigint[], labels json[], contents json[], befores bytea[], afters bytea[],
    made_ids boolean[], INOUT diverged_at bigint, OUT outcome text, OUT version bigint, OUT made timestamptz,
    OUT outcomes text[], OUT issues text[])
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    is_new       boolean;
    s            cardbox.sessions;
    c            record;
    lines        bigint[];
    branches     bigint[];
    depths       integer[];
    parent_lines bigint[];
    missing      text[];
    same         boolean[];
    header       integer := array_position(types, 'session');
    first        integer; -- indexes of the first and the last line that is written
    last         integer;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    PERFORM cardbox.check_lines(ids, duplicate_of, parents, refs, types, roles, sets, targets, labels, contents, false);
    is_new := cardbox.lock_session_for_import(tenant, session, given_dialect, since, file_id, restores);
    SELECT * INTO s FROM cardbox.sessions x WHERE x.tenant_id = tenant AND x.session_id = session;
    made := s.created_at;
    SELECT * INTO c FROM cardbox.compare_lines(s, start, ids, contents, befores, afters, diverged_at);
    diverged_at := c.diverged_at;
    SELECT * INTO lines, branches, depths, missing, same FROM cardbox.stored_entries(tenant, session, ids, contents, false);
    SELECT * INTO outcomes, issues FROM cardbox.import_outcomes(
        s, start, c.equal, diverged_at IS NOT NULL, restores, ids, duplicate_of, types, contents, lines, missing, same);
    SELECT * INTO lines, branches, depths, parent_lines, missing FROM cardbox.attach_entries(
        s, s.lines - (c.completes IS NOT NULL)::integer, outcomes, parents, refs, lines, branches, depths);
    FOR i IN c.equal + 1 .. cardinality(contents) LOOP
        IF missing[i] IS NOT NULL THEN
            issues[i] := 'dangling';
        END IF;
        IF outcomes[i] IN ('appended', 'kept') THEN
            first := coalesce(first, i);
            last := i;
        END IF;
    END LOOP;
    outcome := CASE WHEN is_new OR c.has_changed OR last IS NOT NULL THEN 'done' ELSE 'unchanged' END;
    version := s.version;
    IF last IS NOT NULL OR c.has_changed THEN
        IF c.completes = first THEN
            befores[first] := nullif(coalesce(c.prefix, '') || coalesce(befores[first], ''), '');
        ELSIF c.open_end AND first > 0 THEN
            befores[first] := '\x0a' || coalesce(befores[first], '');
        END IF;
        PERFORM cardbox.insert_lines(
            tenant, session, c.completes, outcomes, lines, branches, depths, parent_lines, missing, ids, types, roles, sets,
            cardbox.compaction_targets(tenant, session, start, diverged_at, ids, targets, indexes), labels, contents,
            befores, afters, made_ids, ARRAY(SELECT x IS NOT NULL FROM unnest(indexes) AS u(x)));
        version := cardbox.update_session(
            s, (NOT restores)::integer, given_dialect,
            CASE WHEN outcomes[header] = 'kept' AND s.entries = 0
                  AND coalesce(array_position(outcomes, 'appended') > header, true) THEN contents[header] END,
            CASE WHEN last IS NULL THEN c.open_end ELSE cardbox.is_open_end(CASE
                 WHEN contents[last] IS NULL THEN befores[last] ELSE coalesce(afters[last], '\x0a') END) END,
            outcomes, lines, branches, depths, ids, types, labels);
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.import_lines TO cardbox_worker;
ALTER FUNCTION cardbox.import_lines OWNER TO cardbox_writer;
