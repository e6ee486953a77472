-- attach_entries: assigns line numbers to new lines: those with the outcome appended or kept. Determines the parent,
-- branch and depth of new entries: those with the outcome appended. The arrays are parallel.
--   s        The session's row.
--   next     Number of the first new line.
--   parents  Id of the parent; NULL: the entry is a root; '': the entry's parentId is not an id.
--   refs     Index from 1 of the element that is the parent; 0: the parent is looked up by its id.
--   lines, branches, depths  Line number, branch and depth of the stored entry with the element's id, or NULL. The
--            function sets the values of new lines.
--   missing  Id of a new entry's parent, if no such entry is stored or is an earlier element: the entry becomes a root.
--            Otherwise NULL.
CREATE OR REPLACE FUNCTION cardbox.attach_entries(
    s cardbox.sessions, next bigint, outcomes text[], parents text[], refs integer[], INOUT lines bigint[],
    INOUT branches bigint[], INOUT depths integer[], OUT parent_lines bigint[], OUT missing text[])
LANGUAGE plpgsql
AS $$
DECLARE
    n              integer := cardinality(outcomes);
    stored_parents bigint[] := '{}'; -- line numbers of stored entries that are parents of earlier elements
    is_parent      boolean[] := array_fill(false, ARRAY[n]); -- true: the element is the parent of an element before i
    continues      boolean; -- the entry continues its parent's branch, because no other child does
    parent_line    bigint;
    parent_branch  bigint;
    parent_depth   integer;
BEGIN
    parent_lines := array_fill(NULL::bigint, ARRAY[n]);
    missing := array_fill(NULL::text, ARRAY[n]);
    FOR i IN 1 .. n LOOP
        IF outcomes[i] IN ('appended', 'kept') THEN
            lines[i] := next;
            next := next + 1;
        END IF;
        CONTINUE WHEN outcomes[i] <> 'appended';
        branches[i] := lines[i];
        depths[i] := 0;
        CONTINUE WHEN parents[i] IS NULL;
        continues := NULL;
        IF outcomes[refs[i]] = 'appended' THEN -- any other parent is looked up by its id
            parent_line := lines[refs[i]];
            parent_branch := branches[refs[i]];
            parent_depth := depths[refs[i]];
            continues := NOT is_parent[refs[i]];
            is_parent[refs[i]] := true;
        ELSIF parents[i] = s.head_entry_id THEN
            parent_line := s.head_line;
            parent_branch := s.head_branch;
            parent_depth := s.head_depth;
        ELSE
            SELECT x.line, x.branch, x.depth INTO parent_line, parent_branch, parent_depth
              FROM cardbox.find_entry(s.tenant_id, s.session_id, parents[i]) AS x;
            IF NOT FOUND THEN
                missing[i] := parents[i];
                CONTINUE;
            END IF;
        END IF;
        IF continues IS NULL THEN
            continues := parent_line <> ALL (stored_parents)
                AND CASE WHEN parent_line = s.head_line THEN s.head_is_leaf
                         ELSE cardbox.is_leaf(s.tenant_id, s.session_id, parent_branch, parent_depth) END;
            stored_parents := stored_parents || parent_line;
        END IF;
        parent_lines[i] := parent_line;
        depths[i] := parent_depth + 1;
        IF continues THEN
            branches[i] := parent_branch;
        END IF;
    END LOOP;
END
$$;
