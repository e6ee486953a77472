-- move_branches: returns how the links that accept_late_parents() accepted change the depths and branches of entries.
-- The arrays have one element for each branch.
--   starts, is_late, parent_depths  Columns of branch_parents().
--   parent_branches  Result of accept_late_parents().
--   continues        Whether the branch's first entry continues its parent's branch.
--   depths           Number to add to the depth of each entry of the branch.
--   branches         Branch to which the entries of the branch belong after the links.
--
-- A branch is processed after its parent's branch: a stack holds the branches whose parent's branch is not processed
-- yet.
CREATE OR REPLACE FUNCTION cardbox.move_branches(
    starts bigint[], is_late boolean[], parent_branches integer[], parent_depths integer[], continues boolean[],
    OUT depths integer[], OUT branches bigint[])
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
    stack integer[] := array_fill(0, ARRAY[cardinality(starts)]);
    high  integer := 0;
    one   integer;
BEGIN
    depths := array_fill(NULL::integer, ARRAY[cardinality(starts)]);
    branches := starts;
    FOR i IN 1 .. cardinality(starts) LOOP
        one := i;
        WHILE one IS NOT NULL AND depths[one] IS NULL LOOP
            high := high + 1;
            stack[high] := one;
            one := parent_branches[one];
        END LOOP;
        WHILE high > 0 LOOP
            one := stack[high];
            high := high - 1;
            depths[one] := CASE WHEN parent_branches[one] IS NULL THEN 0 ELSE depths[parent_branches[one]]
                                + CASE WHEN is_late[one] THEN parent_depths[one] + 1 ELSE 0 END END;
            IF continues[one] THEN
                branches[one] := branches[parent_branches[one]];
            END IF;
        END LOOP;
    END LOOP;
END
$$;
