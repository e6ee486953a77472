-- accept_late_parents: decides which roots can be linked to parents that were imported after them. The arrays are those
-- of branch_parents(). If a link would close a cycle, the function rejects the link: the branch's element of
-- parent_branches becomes NULL. The result `links` is the number of accepted links.
CREATE OR REPLACE FUNCTION cardbox.accept_late_parents(
    is_late boolean[], INOUT parent_branches integer[], OUT links integer)
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
    ancestors integer[]; -- for each branch, the index of an ancestor branch; its own index if it is a root
    ancestor  integer;
BEGIN
    links := 0;
    ancestors := ARRAY(SELECT CASE WHEN is_late[i] OR parent_branches[i] IS NULL THEN i ELSE parent_branches[i] END
                         FROM generate_series(1, cardinality(parent_branches)) AS g(i));
    FOR i IN 1 .. cardinality(parent_branches) LOOP
        CONTINUE WHEN NOT is_late[i] OR parent_branches[i] IS NULL;
        ancestor := parent_branches[i];
        WHILE ancestors[ancestor] <> ancestor LOOP
            ancestors[ancestor] := ancestors[ancestors[ancestor]];
            ancestor := ancestors[ancestor];
        END LOOP;
        IF ancestor = i THEN
            parent_branches[i] := NULL;
        ELSE
            ancestors[i] := ancestor;
            links := links + 1;
        END IF;
    END LOOP;
END
$$;
