-- find_entry: returns the entry of a session that has this id, or no row. It is inlined.
--
-- test_plans.py test_plans_without_statistics: the range and the ORDER BY select the intended index. With `=` any
-- index of the session fits, and a loop over many rows may read the whole session for each row.
CREATE OR REPLACE FUNCTION cardbox.find_entry(tenant text, session text, id text) RETURNS SETOF cardbox.session_lines
LANGUAGE sql STABLE
AS $$
    SELECT * FROM cardbox.session_lines x
     WHERE x.tenant_id = tenant AND x.session_id = session AND x.entry_id BETWEEN id AND id
     ORDER BY x.entry_id LIMIT 1
$$;
GRANT EXECUTE ON FUNCTION cardbox.find_entry TO cardbox_worker;
