-- first_child: returns the line number of the first child, by line, of the entry in line parent. Returns NULL if the entry
-- has fewer than two children, so that it is not a branch point.
--
-- test_plans.py test_plans_without_statistics: find_entry() explains why the condition is a range.
CREATE OR REPLACE FUNCTION cardbox.first_child(tenant text, session text, parent bigint) RETURNS bigint
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    own_branch  bigint;  -- the branch of the entry
    child_depth integer; -- the depth of its children
    -- the first child that starts a branch
    start       bigint := (SELECT x.line FROM cardbox.session_lines x
                      WHERE x.tenant_id = tenant AND x.session_id = session AND x.line = x.branch
                        AND x.parent_line BETWEEN parent AND parent
                      ORDER BY x.parent_line, x.line LIMIT 1);
BEGIN
    IF start IS NULL THEN
        RETURN NULL;
    END IF;
    -- Row-level security lets an index compare the depth with a variable, but not with the sum. Damaged rows may have the
    -- largest depth, or may be two of one depth.
    SELECT p.branch, least(p.depth, 2147483646) + 1 INTO own_branch, child_depth
      FROM cardbox.find_line(tenant, session, parent) AS p;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT least(start, min(c.line))
              FROM cardbox.branch_entries(tenant, session, own_branch, child_depth, child_depth) AS c);
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.first_child TO cardbox_worker;
