-- find_line: returns the session's line that has this number, or no row. PostgreSQL inlines the function.
--
-- test_plans.py test_plans_without_statistics: find_entry() explains why the condition is a range.
CREATE OR REPLACE FUNCTION cardbox.find_line(tenant text, session text, number bigint)
RETURNS SETOF cardbox.session_lines
LANGUAGE sql STABLE
AS $$
    SELECT * FROM cardbox.session_lines x
     WHERE x.tenant_id = tenant AND x.session_id = session AND x.line BETWEEN number AND number
     ORDER BY x.line LIMIT 1
$$;
GRANT EXECUTE ON FUNCTION cardbox.find_line TO cardbox_worker;
