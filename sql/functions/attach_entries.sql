-- attach_entries: places new entries (outcome appended) in the tree. The arrays are parallel.
--   s         the session's row; its head is not looked up
--   parents   the parent's id; NULL: a root; '': something that is not an id
--   refs      number of the parent among the lines here, or 0: it is looked up
--   lines, branches, depths   of the entry that has the line's id; of a new one only its line
--   missing   of an entry that became a root because its parent is missing: the parent's id
-- Keys are looked up as ranges in the order of an index, so that no plan can read other indexes.
CREATE OR REPLACE FUNCTION cardbox.attach_entries(
    s cardbox.sessions, outcomes text[], parents text[], refs integer[], lines bigint[],
    INOUT branches bigint[], INOUT depths integer[], OUT parent_lines bigint[], OUT missing text[])
LANGUAGE plpgsql
AS $$
DECLARE
    n         integer := cardinality(outcomes);
    continued bigint[] := '{}'; -- stored entries that get a child on their branch here
    has_child boolean[] := array_fill(false, ARRAY[n]); -- the same of new ones
    is_last   boolean; -- no child continues the parent's branch
    up_line   bigint; -- the parent
    up_branch bigint;
    up_depth  integer;
BEGIN
    parent_lines := array_fill(NULL::bigint, ARRAY[n]);
    missing := array_fill(NULL::text, ARRAY[n]);
    FOR i IN 1 .. n LOOP
        CONTINUE WHEN outcomes[i] <> 'appended';
        branches[i] := lines[i];
        depths[i] := 0;
        CONTINUE WHEN parents[i] IS NULL;
        is_last := NULL;
        IF outcomes[refs[i]] = 'appended' THEN -- else that line is not the entry itself
            up_line := lines[refs[i]];
            up_branch := branches[refs[i]];
            up_depth := depths[refs[i]];
            is_last := NOT has_child[refs[i]];
            has_child[refs[i]] := true;
        ELSIF parents[i] = s.head_entry_id THEN
            up_line := s.head_line;
            up_branch := s.head_branch;
            up_depth := s.head_depth;
        ELSE
            SELECT x.line, x.branch, x.depth INTO up_line, up_branch, up_depth FROM cardbox.session_lines x
             WHERE x.tenant_id = s.tenant_id AND x.session_id = s.session_id
               AND x.entry_id BETWEEN parents[i] AND parents[i]
             ORDER BY x.entry_id LIMIT 1;
            IF NOT FOUND THEN
                missing[i] := parents[i];
                CONTINUE;
            END IF;
        END IF;
        IF is_last IS NULL THEN
            is_last := up_line <> ALL (continued)
                AND CASE WHEN up_line = s.head_line THEN s.head_is_leaf
                         ELSE cardbox.is_leaf(s.tenant_id, s.session_id, up_branch, up_depth) END;
            continued := continued || up_line;
        END IF;
        parent_lines[i] := up_line;
        depths[i] := up_depth + 1;
        IF is_last THEN
            branches[i] := up_branch;
        END IF;
    END LOOP;
END
$$;
