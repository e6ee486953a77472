-- link_late_parents: after an import: links roots whose parents came later. A link that would close
-- a cycle is not made.
--   wanted  ids of entries that were reported as dangling
--   issues  for each of them: NULL: linked; dangling: its parent is missing; cycle: its parent
--           comes from it
--   links   how many were linked; version NULL: there is no such session
CREATE OR REPLACE FUNCTION cardbox.link_late_parents(
    tenant text, session text, wanted text[], OUT version bigint, OUT links integer, OUT cycles integer,
    OUT issues text[])
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    b      record;
    late   boolean[];
    ups    integer[];
    firsts boolean[];
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    SELECT x.version INTO version FROM cardbox.sessions x
     WHERE x.tenant_id = tenant AND x.session_id = session AND x.state <> 'deleted' FOR NO KEY UPDATE;
    SELECT * INTO b FROM cardbox.branch_parents(tenant, session);
    late := coalesce(b.is_late, '{}');
    SELECT a.ups, a.links INTO ups, links FROM cardbox.accept_late_parents(late, coalesce(b.ups, '{}')) AS a;
    cycles := (SELECT count(*) FROM unnest(b.ups, ups) AS u(old, new) WHERE u.old IS NOT NULL AND u.new IS NULL);
    IF links > 0 THEN
        firsts := ARRAY(SELECT l.is_new AND NOT u.continued
                               AND row_number() OVER (PARTITION BY l.is_new, u.up_line ORDER BY u.i) = 1
                          FROM unnest(late, ups, b.up_lines, b.continued)
                               WITH ORDINALITY AS u(late, up, up_line, continued, i)
                         CROSS JOIN LATERAL (SELECT u.late AND u.up IS NOT NULL) AS l(is_new) ORDER BY u.i);
        UPDATE cardbox.session_lines x SET parent_line = u.up_line, missing_parent_id = NULL
          FROM unnest(b.starts, late, ups, b.up_lines) AS u(line, late, up, up_line)
         WHERE u.late AND u.up IS NOT NULL
           AND x.tenant_id = tenant AND x.session_id = session AND x.line = u.line;
        UPDATE cardbox.session_lines x SET depth = x.depth + u.move, branch = u.name
          FROM cardbox.move_branches(b.starts, late, ups, b.up_depths, firsts) AS m
         CROSS JOIN LATERAL unnest(b.starts, m.moves, m.names) AS u(line, move, name)
         WHERE (u.move > 0 OR u.name <> u.line)
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
        SELECT CASE WHEN k.missing IS NULL THEN NULL WHEN p.line IS NULL THEN 'dangling' ELSE 'cycle' END
          FROM unnest((cardbox.stored_entries(tenant, session, wanted, NULL, false)).missing)
               WITH ORDINALITY AS k(missing, i)
          LEFT JOIN LATERAL (
                SELECT x.line FROM cardbox.session_lines x
                 WHERE x.tenant_id = tenant AND x.session_id = session
                   AND x.entry_id BETWEEN k.missing AND k.missing
                 ORDER BY x.entry_id LIMIT 1) AS p ON true
         ORDER BY k.i);
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.link_late_parents TO cardbox_worker;
ALTER FUNCTION cardbox.link_late_parents OWNER TO cardbox_writer;
