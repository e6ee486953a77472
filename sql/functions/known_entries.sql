-- known_entries: the entries of a session that have one of these ids: parallel arrays, NULL where
-- there is none.
--   contents    same: the entry has this JSON
--   with_parent the first of `contents` lacks its parentId, which the session's entry may have
CREATE OR REPLACE FUNCTION cardbox.known_entries(
    tenant text, session text, ids text[], contents json[], with_parent boolean,
    OUT lines bigint[], OUT branches bigint[], OUT depths integer[], OUT missing text[], OUT same boolean[])
LANGUAGE sql STABLE
AS $$
    SELECT array_agg(x.line ORDER BY u.place), array_agg(x.branch ORDER BY u.place),
           array_agg(x.depth ORDER BY u.place), array_agg(x.missing_parent_id ORDER BY u.place),
           array_agg(x.content::text = contents[u.place]::text
                     OR (with_parent AND u.place = 1 AND x.content::text = cardbox.with_parent(
                         CASE WHEN x.parent_line IS NULL THEN nullif(x.missing_parent_id, '') ELSE (
                             SELECT p.entry_id FROM cardbox.session_lines p
                              WHERE p.tenant_id = tenant AND p.session_id = session
                                AND p.line BETWEEN x.parent_line AND x.parent_line
                              ORDER BY p.line LIMIT 1) END, contents[1])::text) ORDER BY u.place)
      FROM unnest(ids) WITH ORDINALITY AS u(id, place)
      LEFT JOIN LATERAL (
            SELECT * FROM cardbox.session_lines e
             WHERE e.tenant_id = tenant AND e.session_id = session AND e.entry_id BETWEEN u.id AND u.id
             ORDER BY e.entry_id LIMIT 1) AS x ON true
$$;
REVOKE ALL ON FUNCTION cardbox.known_entries FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.known_entries TO cardbox_writer;
