-- session_entry_details: returns the parent's id and the label of an entry, which are in other rows. PostgreSQL inlines
-- the function, so that a column that the caller does not use is not looked up.
CREATE OR REPLACE FUNCTION cardbox.session_entry_details(tenant text, session text, id text, parent bigint)
RETURNS TABLE (parent_id text, label json)
LANGUAGE sql STABLE
AS $$
    SELECT (SELECT p.entry_id FROM cardbox.find_line(tenant, session, parent) AS p),
           (SELECT l.label FROM cardbox.session_lines l
             WHERE l.tenant_id = tenant AND l.session_id = session AND l.target = id AND l.type = 'label'
             ORDER BY l.line DESC LIMIT 1)
$$;
GRANT EXECUTE ON FUNCTION cardbox.session_entry_details TO cardbox_worker;
