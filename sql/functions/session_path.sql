-- session_path: the path from a root to an entry as ranges: on each branch the entries from depth
-- low to high. The first row from a key on is asked for, where the key itself is meant: the ORDER
-- BY makes the one index best that has the order. Without statistics PostgreSQL takes others for as
-- good, and reads whole sessions.
CREATE OR REPLACE FUNCTION cardbox.session_path(tenant text, session text, from_seq bigint)
RETURNS TABLE (branch bigint, low integer, high integer)
LANGUAGE sql STABLE
AS $$
    WITH RECURSIVE way AS (
        SELECT e.branch, e.depth FROM cardbox.session_entries e
         WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = from_seq
        UNION ALL
        SELECT p.branch, p.depth
          FROM way w
         CROSS JOIN LATERAL (
                SELECT x.parent_seq FROM cardbox.session_entries x
                 WHERE x.tenant_id = tenant AND x.session_id = session AND x.seq >= w.branch
                 ORDER BY x.seq LIMIT 1) AS f
         CROSS JOIN LATERAL (
                SELECT x.branch, x.depth FROM cardbox.session_entries x
                 WHERE x.tenant_id = tenant AND x.session_id = session AND x.seq >= f.parent_seq
                 ORDER BY x.seq LIMIT 1) AS p
         WHERE p.depth < w.depth
    )
    SELECT w.branch, least(lead(w.depth, 1, -1) OVER (ORDER BY w.depth DESC), 2147483646) + 1, w.depth
      FROM way w
$$;
REVOKE ALL ON FUNCTION cardbox.session_path FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.session_path TO cardbox_service, cardbox_worker;
