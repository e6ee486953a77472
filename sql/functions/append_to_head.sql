-- append_to_head: appends one entry to the head of a session, the most frequent case of append_entries(), in fewer
-- steps. Returns false and writes nothing if the session has no head, the parent is not the head, or the head has a
-- child. The result is also false if the id is stored, or the type is label or session_info.
--   s              The session's row, which the caller has locked.
--   given_dialect  Dialect of the session after the append, or NULL.
CREATE OR REPLACE FUNCTION cardbox.append_to_head(
    s cardbox.sessions, given_dialect text, id text, parent text, ref integer, type text, role text,
    sets text, target text, label json, content json)
RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    IF s.head_is_leaf IS NOT TRUE OR (ref <> -1 AND parent IS DISTINCT FROM s.head_entry_id)
       OR type IN ('label', 'session_info') THEN
        RETURN false;
    END IF;
    IF ref = -1 THEN
        content := cardbox.with_parent(s.head_entry_id, content);
    END IF;
    INSERT INTO cardbox.session_lines (tenant_id, session_id, line, parent_line, branch, depth, size,
           entry_id, type, role, sets, target, label, content, before)
    VALUES (s.tenant_id, s.session_id, s.lines, s.head_line, s.head_branch, s.head_depth + 1,
            octet_length(content::text), id, type, role, sets, target, label, content,
            CASE WHEN s.open_end THEN '\x0a'::bytea END)
        ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE cardbox.sessions x
       SET dialect = given_dialect,
           head_line = s.lines, head_entry_id = id, head_depth = s.head_depth + 1, lines = s.lines + 1,
           entries = x.entries + 1, open_end = false, version = x.version + 1,
           updated_at = greatest(clock_timestamp(), x.updated_at)
     WHERE x.tenant_id = s.tenant_id AND x.session_id = s.session_id;
    RETURN true;
END
$$;
