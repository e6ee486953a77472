-- list_branch_points: returns up to `most` branch points of a session: entries with at least two children. Each row has
-- the lines of the branch point and of its first child. The rows are in the order of the first children.
--   after_line  Line of the branch point after which the list begins; -1: the list begins with the first branch point.
--
-- If the session has at most `few` branch points, the function looks up all of them. Otherwise it reads entries in the
-- order of lines until it has found `most` first children.
CREATE OR REPLACE FUNCTION cardbox.list_branch_points(tenant text, session text, after_line bigint, most bigint)
RETURNS TABLE (line bigint, child bigint)
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    few   CONSTANT integer := 200;
    found bigint[];
BEGIN
    after_line := coalesce(cardbox.first_child(tenant, session, after_line), -1);
    found := ARRAY(
        WITH RECURSIVE points AS (
            SELECT -1::bigint AS line, 0 AS number
            UNION ALL
            SELECT n.parent_line, p.number + 1
              FROM points p
             CROSS JOIN LATERAL (
                    SELECT e.parent_line FROM cardbox.session_lines e
                     WHERE e.tenant_id = tenant AND e.session_id = session AND e.line = e.branch
                       AND e.parent_line > p.line
                     ORDER BY e.parent_line, e.line LIMIT 1) AS n
             WHERE p.number <= few
        )
        SELECT p.line FROM points p WHERE p.number > 0);
    IF cardinality(found) <= few THEN
        RETURN QUERY
            SELECT f, c FROM unnest(found) AS f CROSS JOIN LATERAL cardbox.first_child(tenant, session, f) AS c
             WHERE c > after_line ORDER BY c LIMIT most;
    ELSE
        RETURN QUERY
            SELECT e.parent_line, e.line FROM cardbox.session_lines e
             WHERE e.tenant_id = tenant AND e.session_id = session AND e.line > after_line AND e.parent_line IS NOT NULL
               AND e.line = cardbox.first_child(tenant, session, e.parent_line)
             ORDER BY e.line LIMIT most;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.list_branch_points TO cardbox_worker;
