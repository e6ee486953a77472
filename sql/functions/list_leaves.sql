-- list_leaves: returns the line numbers of up to `most` leaves of a session after `after_line`, in ascending order. A
-- leaf is the last entry of a branch. If the session has few branches, the function looks up the last entry of each
-- branch, so that long branches are not read. Otherwise it reads entries until it has found `most` leaves.
CREATE OR REPLACE FUNCTION cardbox.list_leaves(tenant text, session text, after_line bigint, most bigint)
RETURNS SETOF bigint
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    few   CONSTANT integer := 200;
    found bigint[];
BEGIN
    found := ARRAY(
        WITH RECURSIVE branches AS (
            SELECT 9223372036854775807 AS branch, NULL::bigint AS line, 0 AS number
            UNION ALL
            SELECT n.branch, n.line, b.number + 1
              FROM branches b
             CROSS JOIN LATERAL (
                    SELECT e.branch, e.line FROM cardbox.session_lines e
                     WHERE e.tenant_id = tenant AND e.session_id = session AND e.branch < b.branch
                     ORDER BY e.branch DESC, e.depth DESC LIMIT 1) AS n
             WHERE b.number <= few
        )
        SELECT b.line FROM branches b WHERE b.number > 0);
    IF cardinality(found) <= few THEN
        RETURN QUERY SELECT f FROM unnest(found) AS f WHERE f > after_line ORDER BY f LIMIT most;
    ELSE
        RETURN QUERY
            SELECT e.line FROM cardbox.session_lines e
             WHERE e.tenant_id = tenant AND e.session_id = session AND e.line > after_line AND e.branch IS NOT NULL
               AND cardbox.is_leaf(tenant, session, e.branch, e.depth)
             ORDER BY e.line LIMIT most;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.list_leaves TO cardbox_worker;
