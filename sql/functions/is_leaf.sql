-- is_leaf: returns whether no child continues the branch of the entry with this branch and depth.
--
-- test_plans.py test_plans_without_statistics: find_entry() explains why the condition is a range of one branch.
CREATE OR REPLACE FUNCTION cardbox.is_leaf(tenant text, session text, at_branch bigint, at_depth integer)
RETURNS boolean
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    RETURN (SELECT x.line FROM cardbox.session_lines x
             WHERE x.tenant_id = tenant AND x.session_id = session
               AND x.branch BETWEEN at_branch AND at_branch AND x.depth = at_depth + 1
             ORDER BY x.branch LIMIT 1) IS NULL;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.is_leaf TO cardbox_worker;
