-- stored_entries: returns columns of the session's entries that have these ids, as parallel arrays. For an id that the
-- session does not have, the elements are NULL.
--   contents     JSON to compare with: `same` is true if the stored entry has this JSON.
--   with_parent  Whether the stored JSON of the first entry may begin with a parentId that `contents` lacks.
CREATE OR REPLACE FUNCTION cardbox.stored_entries(
    tenant text, session text, ids text[], contents json[], with_parent boolean,
    OUT lines bigint[], OUT branches bigint[], OUT depths integer[], OUT missing text[], OUT same boolean[])
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    entry  cardbox.session_lines;
    parent text;
BEGIN
    FOR i IN 1 .. coalesce(cardinality(ids), 0) LOOP
        SELECT * INTO entry FROM cardbox.find_entry(tenant, session, ids[i]);
        lines[i] := entry.line;
        branches[i] := entry.branch;
        depths[i] := entry.depth;
        missing[i] := entry.missing_parent_id;
        same[i] := entry.content::text = contents[i]::text;
        IF i = 1 AND with_parent AND NOT same[i] THEN
            SELECT p.entry_id INTO parent FROM cardbox.find_line(tenant, session, entry.parent_line) AS p;
            same[i] := entry.content::text = cardbox.with_parent(
                coalesce(parent, nullif(entry.missing_parent_id, '')), contents[i])::text;
        END IF;
    END LOOP;
END
$$;
