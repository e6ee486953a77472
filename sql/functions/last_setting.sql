-- last_setting: the last entry of some kinds on the path to an entry, above a depth, that has a
-- setting: see says_setting().
CREATE OR REPLACE FUNCTION cardbox.last_setting(
    tenant text, session text, from_seq bigint, below integer, kinds integer[])
RETURNS TABLE (branch bigint, depth integer)
LANGUAGE plpgsql STABLE ROWS 1
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    RETURN QUERY
    SELECT m.branch, m.depth
      FROM (SELECT * FROM cardbox.session_path(tenant, session, from_seq) AS w
             WHERE w.low < below ORDER BY w.high DESC OFFSET 0) AS p
     CROSS JOIN LATERAL (
            SELECT e.branch, e.depth
              FROM cardbox.session_entries e
             CROSS JOIN LATERAL (
                    SELECT cardbox.says_setting(e.kind, c.content) AS says FROM cardbox.cards c
                     WHERE c.tenant_id = tenant AND c.card_id BETWEEN e.card_id AND e.card_id
                     ORDER BY c.card_id LIMIT 1) AS line
             WHERE e.tenant_id = tenant AND e.session_key = session AND e.branch = p.branch
               AND e.depth BETWEEN p.low AND least(p.high, below - 1) AND e.kind = ANY (kinds)
               AND line.says
             ORDER BY e.depth DESC LIMIT 1) AS m
     LIMIT 1;
END
$$;
REVOKE ALL ON FUNCTION cardbox.last_setting FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.last_setting TO cardbox_service, cardbox_worker;
