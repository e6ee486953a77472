-- children_of: returns the children of an entry: the entry after it in its branch, and the first entries of the branches
-- that start at it.
CREATE OR REPLACE FUNCTION cardbox.children_of(tenant text, session text, line bigint, branch bigint, depth integer)
RETURNS SETOF cardbox.session_lines
LANGUAGE sql STABLE
AS $$
    SELECT * FROM cardbox.branch_entries(tenant, session, children_of.branch, children_of.depth + 1, children_of.depth + 1)
    UNION ALL
    SELECT * FROM cardbox.session_lines x
     WHERE x.tenant_id = tenant AND x.session_id = session AND x.line = x.branch AND x.parent_line = children_of.line
$$;
GRANT EXECUTE ON FUNCTION cardbox.children_of TO cardbox_worker;
