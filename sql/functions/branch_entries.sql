-- branch_entries: returns the entries of a branch at the depths from low to high. PostgreSQL inlines the function.
--
-- test_plans.py test_plans_of_new_projects: the ORDER BY makes PostgreSQL use the index session_lines_path. With
-- another index a query may read the whole session for each branch.
CREATE OR REPLACE FUNCTION cardbox.branch_entries(tenant text, session text, branch bigint, low integer, high integer)
RETURNS SETOF cardbox.session_lines
LANGUAGE sql STABLE
AS $$
    SELECT * FROM cardbox.session_lines x
     WHERE x.tenant_id = tenant AND x.session_id = session AND x.branch = branch_entries.branch
       AND x.depth BETWEEN low AND high
     ORDER BY x.depth
$$;
GRANT EXECUTE ON FUNCTION cardbox.branch_entries TO cardbox_worker;
