-- accept_late_parents: which roots whose parents came later can be linked. A link that would close a
-- cycle can't: then the element of ups becomes NULL. The parameters are those of branch_parents().
CREATE OR REPLACE FUNCTION cardbox.accept_late_parents(is_late boolean[], INOUT ups integer[], OUT links integer)
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
    roots integer[]; -- of each branch: one nearer to its root, or itself
    at    integer;
BEGIN
    links := 0;
    roots := ARRAY(SELECT CASE WHEN is_late[i] OR ups[i] IS NULL THEN i ELSE ups[i] END
                     FROM generate_series(1, cardinality(ups)) AS g(i));
    FOR i IN 1 .. cardinality(ups) LOOP
        CONTINUE WHEN NOT is_late[i] OR ups[i] IS NULL;
        at := ups[i];
        WHILE roots[at] <> at LOOP
            roots[at] := roots[roots[at]];
            at := roots[at];
        END LOOP;
        IF at = i THEN
            ups[i] := NULL;
        ELSE
            roots[i] := at;
            links := links + 1;
        END IF;
    END LOOP;
END
$$;
