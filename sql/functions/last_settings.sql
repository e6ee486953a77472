-- last_settings: returns the JSON of the last entry of the type settings on the path to the entry in line `from_line`.
-- The condition of the index session_lines_kept includes this type.
CREATE OR REPLACE FUNCTION cardbox.last_settings(tenant text, session text, from_line bigint) RETURNS json
LANGUAGE sql STABLE
AS $$
    SELECT e.content
      FROM cardbox.session_path(tenant, session, from_line) AS p
     CROSS JOIN LATERAL (
            SELECT x.depth, x.content FROM cardbox.session_lines x
             WHERE x.tenant_id = tenant AND x.session_id = session AND x.branch = p.branch
               AND x.depth BETWEEN p.low AND p.high AND x.type = 'settings'
             ORDER BY x.depth DESC LIMIT 1) AS e
     ORDER BY e.depth DESC LIMIT 1
$$;
