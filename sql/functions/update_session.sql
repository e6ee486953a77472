-- update_session: updates a session's row after lines were inserted. Returns the new version. Each new entry becomes the
-- head. An entry that no model sees, such as a label, becomes the head only if its parent is the head or there is no
-- head.
--   s           The session's row, which the caller has locked.
--   changes     Number that is added to the version.
--   new_header  Header that is stored if the session has none yet, or NULL.
--   is_open     Whether the session's last line has no line feed at its end.
--   written     Line numbers of the new lines.
CREATE OR REPLACE FUNCTION cardbox.update_session(
    s cardbox.sessions, changes integer, given_dialect text, new_header json, is_open boolean, outcomes text[],
    written bigint[], branches bigint[], depths integer[], ids text[], types text[], labels json[])
RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    added integer := 0;
    moved boolean := false; -- the head has moved to a new entry
BEGIN
    FOR i IN 1 .. cardinality(outcomes) LOOP
        IF outcomes[i] IN ('appended', 'kept') THEN
            s.lines := greatest(s.lines, written[i] + 1);
        END IF;
        CONTINUE WHEN outcomes[i] <> 'appended';
        added := added + 1;
        IF types[i] = 'session_info' THEN
            s.name := coalesce(labels[i], s.name);
        END IF;
        IF s.head_line IS NOT NULL AND types[i] IN ('label', 'session_info', 'metadata', 'settings', 'custom',
                                                    'model_change', 'thinking_level_change', 'other') THEN
            -- This has a statement of its own, because the condition above then needs none for the other entries.
            CONTINUE WHEN (SELECT l.parent_line FROM cardbox.find_line(s.tenant_id, s.session_id, written[i]) AS l)
                IS DISTINCT FROM s.head_line;
        END IF;
        moved := true;
        s.head_line := written[i];
        s.head_entry_id := ids[i];
        s.head_branch := branches[i];
        s.head_depth := depths[i];
    END LOOP;
    s.version := s.version + changes;
    UPDATE cardbox.sessions x
       SET dialect = CASE WHEN s.entries > 0 OR s.header IS NOT NULL THEN coalesce(x.dialect, given_dialect)
                          ELSE coalesce(given_dialect, x.dialect) END,
           header = coalesce(x.header, new_header), name = s.name, head_line = s.head_line,
           head_entry_id = s.head_entry_id, head_branch = s.head_branch, head_depth = s.head_depth,
           head_is_leaf = moved OR x.head_is_leaf, lines = s.lines, entries = x.entries + added,
           open_end = is_open, version = s.version, updated_at = greatest(clock_timestamp(), x.updated_at)
     WHERE x.tenant_id = s.tenant_id AND x.session_id = s.session_id;
    RETURN s.version;
END
$$;
