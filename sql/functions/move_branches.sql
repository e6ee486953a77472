-- move_branches: where branches belong once the roots of accept_late_parents() are linked.
--   firsts  the branch's first entry continues its parent's branch
--   moves   by how much its entries become deeper
--   names   the branch that it becomes a part of, or itself
-- Other parameters are those of branch_parents(). A branch comes after its parent's: a stack holds
-- those that wait.
CREATE OR REPLACE FUNCTION cardbox.move_branches(
    starts bigint[], is_late boolean[], ups integer[], up_depths integer[], firsts boolean[],
    OUT moves integer[], OUT names bigint[])
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
    stack integer[] := array_fill(0, ARRAY[cardinality(starts)]);
    high  integer := 0;
    at    integer;
BEGIN
    moves := array_fill(NULL::integer, ARRAY[cardinality(starts)]);
    names := starts;
    FOR i IN 1 .. cardinality(starts) LOOP
        at := i;
        WHILE at IS NOT NULL AND moves[at] IS NULL LOOP
            high := high + 1;
            stack[high] := at;
            at := ups[at];
        END LOOP;
        WHILE high > 0 LOOP
            at := stack[high];
            high := high - 1;
            moves[at] := CASE WHEN ups[at] IS NULL THEN 0
                              ELSE moves[ups[at]] + CASE WHEN is_late[at] THEN up_depths[at] + 1 ELSE 0 END END;
            IF firsts[at] THEN
                names[at] := names[ups[at]];
            END IF;
        END LOOP;
    END LOOP;
END
$$;
