-- session_path: the path from a root to an entry as ranges: on each branch the entries from depth
-- low to high. Each look-up asks for the first row of a range that has one key: only the index that
-- has this order fits then. Otherwise PostgreSQL may read a whole session.
CREATE OR REPLACE FUNCTION cardbox.session_path(tenant text, session text, from_line bigint)
RETURNS TABLE (branch bigint, low integer, high integer)
LANGUAGE sql STABLE
AS $$
    WITH RECURSIVE path AS (
        (SELECT e.branch, e.depth FROM cardbox.session_lines e
          WHERE e.tenant_id = tenant AND e.session_id = session AND e.line BETWEEN from_line AND from_line
            AND e.branch IS NOT NULL
          ORDER BY e.line LIMIT 1)
        UNION ALL
        SELECT p.branch, p.depth
          FROM path w
         CROSS JOIN LATERAL (
                SELECT x.parent_line FROM cardbox.session_lines x
                 WHERE x.tenant_id = tenant AND x.session_id = session AND x.line BETWEEN w.branch AND w.branch
                 ORDER BY x.line LIMIT 1) AS f
         CROSS JOIN LATERAL (
                SELECT x.branch, x.depth FROM cardbox.session_lines x
                 WHERE x.tenant_id = tenant AND x.session_id = session AND x.line BETWEEN f.parent_line AND f.parent_line
                 ORDER BY x.line LIMIT 1) AS p
         WHERE p.depth < w.depth
    )
    SELECT w.branch, least(lead(w.depth, 1, -1) OVER (ORDER BY w.depth DESC), 2147483646) + 1, w.depth
      FROM path w
$$;
REVOKE ALL ON FUNCTION cardbox.session_path FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.session_path TO cardbox_service, cardbox_worker, cardbox_writer;
