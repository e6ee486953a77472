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
                             SELECT p.entry_id FROM cardbox.find_line(tenant, session, x.parent_line) AS p) END, contents[1])::text) ORDER BY u.place)
      FROM unnest(ids) WITH ORDINALITY AS u(id, place)
      LEFT JOIN LATERAL cardbox.find_entry(tenant, session, u.id) AS x ON true
$$;
REVOKE ALL ON FUNCTION cardbox.known_entries FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.known_entries TO cardbox_writer;
