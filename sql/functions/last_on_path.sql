-- last_on_path: the last entry of some kinds on the path to an entry, above a depth.
CREATE OR REPLACE FUNCTION cardbox.last_on_path(
    tenant text, session text, from_seq bigint, below integer, kinds integer[],
    OUT branch bigint, OUT depth integer, OUT card_id text)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    found record;
BEGIN
    SELECT m.branch, m.depth, m.card_id INTO found
      FROM (SELECT * FROM cardbox.session_path(tenant, session, from_seq) AS w
             WHERE w.low < below ORDER BY w.high DESC OFFSET 0) AS p
     CROSS JOIN LATERAL (
            SELECT e.branch, e.depth, e.card_id FROM cardbox.session_entries e
             WHERE e.tenant_id = tenant AND e.session_key = session AND e.branch = p.branch
               AND e.depth BETWEEN p.low AND least(p.high, below - 1) AND e.kind = ANY (kinds)
             ORDER BY e.depth DESC LIMIT 1) AS m
     LIMIT 1;
    branch := found.branch;
    depth := found.depth;
    card_id := found.card_id;
END
$$;
REVOKE ALL ON FUNCTION cardbox.last_on_path FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.last_on_path TO cardbox_service, cardbox_worker;
