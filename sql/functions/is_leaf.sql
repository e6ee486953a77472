-- is_leaf: whether no child continues the branch of the entry at this branch and depth.
-- test_plans.py test_plans_without_statistics: for the range of one branch see find_line().
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
