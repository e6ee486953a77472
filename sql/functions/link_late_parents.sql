-- link_late_parents: links roots to parents that were imported after them. The function runs after an import. A link
-- that would close a cycle is not made.
--   dangling_ids  Ids of the entries that the import reported as dangling.
--   issues        One for each element of dangling_ids: NULL: the entry lacks no parent any more; dangling: its parent
--                 is missing; cycle: its parent is one of its descendants.
--   links         Number of links that were made.
--   cycles        Number of links that would have closed a cycle.
--   version       Version of the session after the call; NULL: there is no such session.
CREATE OR REPLACE FUNCTION cardbox.link_late_parents(
    tenant text, session text, dangling_ids text[], OUT version bigint, OUT links integer, OUT cycles integer,
    OUT issues text[])
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    b         record;
    is_late   boolean[];
    accepted  integer[]; -- the parents' branches, without links that would close a cycle
    continues boolean[];
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    SELECT x.version INTO version FROM cardbox.sessions x
     WHERE x.tenant_id = tenant AND x.session_id = session AND x.state IN ('live', 'restoring') FOR NO KEY UPDATE;
    SELECT * INTO b FROM cardbox.branch_parents(tenant, session);
    is_late := coalesce(b.is_late, '{}');
    SELECT a.parent_branches, a.links INTO accepted, links
      FROM cardbox.accept_late_parents(is_late, coalesce(b.parent_branches, '{}')) AS a;
    cycles := (SELECT count(*) FROM unnest(b.parent_branches, accepted) AS u(old, new)
                WHERE u.old IS NOT NULL AND u.new IS NULL);
    IF links > 0 THEN
        continues := ARRAY(SELECT l.is_new AND NOT u.is_continued
                                  AND row_number() OVER (PARTITION BY l.is_new, u.parent_line ORDER BY u.i) = 1
                             FROM unnest(is_late, accepted, b.parent_lines, b.is_continued)
                                  WITH ORDINALITY AS u(is_late, parent, parent_line, is_continued, i)
                            CROSS JOIN LATERAL (SELECT u.is_late AND u.parent IS NOT NULL) AS l(is_new) ORDER BY u.i);
        UPDATE cardbox.session_lines x SET parent_line = u.parent_line, missing_parent_id = NULL
          FROM unnest(b.starts, is_late, accepted, b.parent_lines) AS u(line, is_late, parent, parent_line)
         WHERE u.is_late AND u.parent IS NOT NULL
           AND x.tenant_id = tenant AND x.session_id = session AND x.line = u.line;
        UPDATE cardbox.session_lines x SET depth = x.depth + u.depth, branch = u.branch
          FROM cardbox.move_branches(b.starts, is_late, accepted, b.parent_depths, continues) AS m
         CROSS JOIN LATERAL unnest(b.starts, m.depths, m.branches) AS u(line, depth, branch)
         WHERE (u.depth > 0 OR u.branch <> u.line)
           AND x.tenant_id = tenant AND x.session_id = session AND x.branch = u.line;
        UPDATE cardbox.sessions x
           SET version = x.version + (x.state = 'live')::integer, head_branch = h.branch, head_depth = h.depth,
               head_is_leaf = cardbox.is_leaf(tenant, session, h.branch, h.depth),
               updated_at = greatest(clock_timestamp(), x.updated_at)
          FROM cardbox.session_lines h
         WHERE x.tenant_id = tenant AND x.session_id = session
           AND h.tenant_id = tenant AND h.session_id = session AND h.line = x.head_line
        RETURNING x.version INTO version;
    END IF;
    issues := ARRAY(
        SELECT CASE WHEN d.missing IS NULL THEN NULL WHEN p.line IS NULL THEN 'dangling' ELSE 'cycle' END
          FROM unnest((cardbox.stored_entries(tenant, session, dangling_ids, NULL, false)).missing)
               WITH ORDINALITY AS d(missing, i)
          LEFT JOIN LATERAL cardbox.find_entry(tenant, session, d.missing) AS p ON true
         ORDER BY d.i);
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.link_late_parents TO cardbox_worker;
ALTER FUNCTION cardbox.link_late_parents OWNER TO cardbox_writer;
