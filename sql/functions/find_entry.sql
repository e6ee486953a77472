-- find_entry: returns the session's entry that has this id, or no row. PostgreSQL inlines the function.
--
-- test_plans.py test_plans_without_statistics: the range and the ORDER BY make PostgreSQL use the index
-- session_lines_by_id. With `=` PostgreSQL may use any index that begins with the session, and a join may read the
-- whole session for each row.
CREATE OR REPLACE FUNCTION cardbox.find_entry(tenant text, session text, id text) RETURNS SETOF cardbox.session_lines
LANGUAGE sql STABLE
AS $$
    SELECT * FROM cardbox.session_lines x
     WHERE x.tenant_id = tenant AND x.session_id = session AND x.entry_id BETWEEN id AND id
     ORDER BY x.entry_id LIMIT 1
$$;
GRANT EXECUTE ON FUNCTION cardbox.find_entry TO cardbox_worker;
