-- session_path: returns the path from a root to the entry in line from_line, as one range of depths for each branch.
CREATE OR REPLACE FUNCTION cardbox.session_path(tenant text, session text, from_line bigint)
RETURNS TABLE (branch bigint, low integer, high integer)
LANGUAGE sql STABLE
AS $$
    WITH RECURSIVE path AS (
        SELECT e.branch, e.depth FROM cardbox.find_line(tenant, session, from_line) AS e WHERE e.branch IS NOT NULL
        UNION ALL
        SELECT p.branch, p.depth
          FROM path w
         CROSS JOIN LATERAL cardbox.find_line(tenant, session, w.branch) AS f
         CROSS JOIN LATERAL cardbox.find_line(tenant, session, f.parent_line) AS p
         WHERE p.depth < w.depth
    )
    SELECT w.branch, least(lead(w.depth, 1, -1) OVER (ORDER BY w.depth DESC), 2147483646) + 1, w.depth
      FROM path w
$$;
GRANT EXECUTE ON FUNCTION cardbox.session_path TO cardbox_worker;
