-- copy_path: copies the path to the entry in line `leaf` to a session that has no entries yet. The copy is one branch
-- that begins at line `first`. The copied lines keep their times. Returns the number of copied entries. Part of fork_session().
CREATE OR REPLACE FUNCTION cardbox.copy_path(
    tenant text, session text, leaf bigint, new_session text, first bigint)
RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    copied bigint;
BEGIN
    INSERT INTO cardbox.session_lines (tenant_id, session_id, line, parent_line, branch, depth, size, entry_id,
           missing_parent_id, type, role, sets, target, label, content, before, after, appended_at)
    SELECT tenant, new_session, first + e.depth, CASE WHEN e.depth > 0 THEN first + e.depth - 1 END, first,
           e.depth, octet_length(e.new_content::text), e.entry_id, e.missing_parent_id, e.type, e.role, e.sets,
           e.target, e.label, e.new_content,
           CASE WHEN substr(e.before, 1, 1) = '\x0a' THEN nullif(substr(e.before, 2), '') ELSE e.before END,
           CASE WHEN cardbox.is_open_end(e.after) THEN e.after || '\x0a' ELSE e.after END,
           e.appended_at
      FROM (SELECT l.*, CASE WHEN l.id_is_made OR l.target_is_made
                   THEN (left(l.content::text, -1)
                         || CASE WHEN l.id_is_made THEN ',"id":' || to_json(l.entry_id) || ',"parentId":'
                            || coalesce(to_json(coalesce(lag(l.entry_id) OVER (ORDER BY l.depth),
                                                nullif(l.missing_parent_id, '')))::text, 'null') ELSE '' END
                         || CASE WHEN l.target_is_made
                            THEN ',"firstKeptEntryId":' || coalesce(to_json(l.target)::text, 'null') ELSE '' END
                         || '}')::json ELSE l.content END AS new_content
              FROM cardbox.session_path(tenant, session, leaf) AS w
             CROSS JOIN LATERAL cardbox.branch_entries(tenant, session, w.branch, w.low, w.high) AS l) AS e
     ORDER BY e.depth;
    GET DIAGNOSTICS copied = ROW_COUNT;
    RETURN copied;
END
$$;
