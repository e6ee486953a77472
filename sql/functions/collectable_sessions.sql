-- collectable_sessions: what batches of collect_sessions() would remove in all.
CREATE OR REPLACE FUNCTION cardbox.collectable_sessions(
    OUT entries bigint, OUT entry_bytes bigint, OUT cards bigint, OUT card_bytes bigint)
LANGUAGE sql STABLE
AS $$
    WITH dead AS MATERIALIZED (
        SELECT e.tenant_id, e.card_id, e.bytes
          FROM cardbox.session_remains r
         CROSS JOIN LATERAL (
                SELECT x.tenant_id, x.card_id, pg_column_size(x.*) AS bytes FROM cardbox.session_entries x
                 WHERE x.tenant_id = r.tenant_id AND x.session_id = r.session_id
                OFFSET 0) AS e
         WHERE NOT r.restoring
    ), unused AS (
        SELECT c.bytes
          FROM (SELECT DISTINCT d.tenant_id, d.card_id FROM dead d) AS k
         CROSS JOIN LATERAL (
                SELECT cardbox.card_bytes(x.content, x.metadata) AS bytes FROM cardbox.cards x
                 WHERE x.tenant_id = k.tenant_id AND x.card_id = k.card_id
                OFFSET 0) AS c
         WHERE NOT cardbox.card_is_used(k.tenant_id, k.card_id)
    )
    SELECT (SELECT count(*) FROM dead), (SELECT coalesce(sum(d.bytes), 0) FROM dead d),
           (SELECT count(*) FROM unused), (SELECT coalesce(sum(u.bytes), 0) FROM unused u)
$$;
REVOKE ALL ON FUNCTION cardbox.collectable_sessions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.collectable_sessions TO cardbox_service;
