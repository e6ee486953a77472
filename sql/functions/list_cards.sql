-- list_cards: returns a page of a tenant's cards, newest first. Every filter may be NULL.
--   step_id, type, trace_id, agent_turn_id, role  Values of these members of the metadata.
--   tool_call_ids     Accepted values of tool_call_id.
--   metadata_members  Object that the metadata must contain.
--   created_after, created_before  Limits of created_at, both exclusive.
--   from_time, from_id  Creation time and id of the last card of the previous page.
--   page_size         Maximum number of cards.
--   scan_limit        Maximum number of cards to examine.
--
-- The column `flags` is 1 if the card matches all filters, 2 if the search ended at this card because of scan_limit, 3
-- if both. So if few cards match, a page may be short, and its last row is the position at which to continue.
--
-- The function runs with the owner's rights, after role_sees_tenant() has checked the caller. Under the policy for
-- workers, PostgreSQL would use no index for the operators `->>` and `@>`, which are not leakproof.
--
-- The query is built for one index: that of the first filter that is set among tool_call_ids, step_id, agent_turn_id,
-- trace_id and type. If none is set, the query uses the index of created_at. The other filters are checked on each
-- card. The query is planned for each call, so that NULL filters vanish. Cards with equal times are sorted by their
-- ids. With tool_call_ids, the cards of each id are looked up and then sorted. Without OFFSET 0 PostgreSQL would read
-- all cards in order of time instead (test_plans.py test_plans[cards_list]).
CREATE OR REPLACE FUNCTION cardbox.list_cards(
    tenant text, step_id text, type text, trace_id text, agent_turn_id text, role text, tool_call_ids text[],
    metadata_members jsonb, created_after timestamptz, created_before timestamptz, from_time timestamptz,
    from_id text, page_size bigint, scan_limit bigint)
RETURNS TABLE (flags bigint, card_id text, content json, tool_calls jsonb, tool_call_id text,
               ttl_seconds integer, expires_at timestamptz, metadata jsonb, created_at timestamptz,
               sealed boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- SQL expression of the metadata member whose index is read, and the value that the member must have
    key    text := CASE WHEN step_id IS NOT NULL THEN 'c.metadata ->> ''step_id'''
                        WHEN agent_turn_id IS NOT NULL THEN 'c.metadata ->> ''agent_turn_id'''
                        WHEN trace_id IS NOT NULL THEN 'c.metadata ->> ''trace_id'''
                        WHEN type IS NOT NULL THEN 'c.metadata ->> ''type''' END;
    value  text := coalesce(step_id, agent_turn_id, trace_id, type);
    source text := CASE
        WHEN tool_call_ids IS NOT NULL THEN '(SELECT DISTINCT u.id FROM unnest($7) AS u(id)) AS k CROSS JOIN LATERAL (
            SELECT * FROM cardbox.cards x WHERE x.tenant_id = $1 AND x.tool_call_id = k.id OFFSET 0) AS c WHERE true'
        ELSE 'cardbox.cards AS c WHERE c.tenant_id = $1' || coalesce(' AND ' || key || ' = $15', '') END;
    -- Sort key that comes before created_at and is equal in all rows. Without this key, PostgreSQL does not use the
    -- order of the index under row-level security (test_plans.py test_plans[cards_list]).
    first  text := CASE WHEN tool_call_ids IS NULL THEN key || ' USING ~>~,' END;
BEGIN
    IF NOT cardbox.role_sees_tenant(tenant) THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE format($q$
        SELECT CASE WHEN w.fits THEN 1 ELSE 0 END + CASE WHEN w.n = $14 THEN 2 ELSE 0 END::bigint, w.card_id,
               CASE WHEN w.fits THEN w.content END, CASE WHEN w.fits THEN w.tool_calls END, w.tool_call_id,
               w.ttl_seconds, w.expires_at, CASE WHEN w.fits THEN w.metadata END, w.created_at, w.sealed
          FROM (SELECT o.*, row_number() OVER () AS n
                  FROM (SELECT c.card_id, c.content, c.tool_calls, c.tool_call_id, c.ttl_seconds, c.expires_at,
                               c.metadata, c.created_at, c.sealed,
                               c.deleted_at IS NULL
                               AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())
                               AND ($2 IS NULL OR c.metadata ->> 'step_id' = $2)
                               AND ($3 IS NULL OR c.metadata ->> 'type' = $3)
                               AND ($4 IS NULL OR c.metadata ->> 'trace_id' = $4)
                               AND ($5 IS NULL OR c.metadata ->> 'agent_turn_id' = $5)
                               AND ($6 IS NULL OR c.metadata ->> 'role' = $6)
                               AND ($8 IS NULL OR c.metadata @> $8) AS fits
                          FROM %s
                           AND ($9 IS NULL OR c.created_at > $9) AND ($10 IS NULL OR c.created_at < $10)
                           AND ($11 IS NULL OR (c.created_at, c.card_id) < ($11, $12))
                         ORDER BY %s c.created_at DESC, c.card_id DESC
                         LIMIT $14) AS o) AS w
         WHERE w.fits OR w.n = $14
         LIMIT $13 $q$, source, first)
    USING tenant, step_id, type, trace_id, agent_turn_id, role, tool_call_ids, metadata_members, created_after,
          created_before, from_time, from_id, page_size, scan_limit, value;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.list_cards TO cardbox_worker;
