-- list_cards: a page of a tenant's cards, newest first. Every filter may be NULL:
--   step, kind, trace, turn, said_by  members of the metadata; kind is its type, said_by its role
--   calls                    tool_call_ids
--   members                  the metadata contains this object
--   made_after, made_before  created_at between these
--   from_time, from_id       the page starts behind this card
--   most                     cards of the page
--   walk                     cards that the look may examine
-- Each row's `said` is 1 if the card belongs to the page, 2 if the look ended at it, 3 if both. So
-- a filter that hardly any card passes gives a short page that says where to continue.
--
-- It runs as the schema's owner, after the question that the policies ask (session_sees): behind a
-- policy an index is not used for `->>` and `@>`, which are not leakproof, and a page was a look at
-- all cards of all tenants.
--
-- It is planned each time, so that NULL filters vanish, and walks one index: that of calls, step,
-- turn, trace or type, else that of time. All other filters are asked of each card on the way.
-- Without statistics PostgreSQL expects a few cards of any filter and would sort them. So the first
-- key of the order, which is the same in all rows, names the index, the range conditions that add
-- nothing make PostgreSQL expect no rows, and enable_sort is off. Cards of calls are looked up call
-- by call.
CREATE OR REPLACE FUNCTION cardbox.list_cards(
    tenant text, step text, kind text, trace text, turn text, said_by text, calls text[], members jsonb,
    made_after timestamptz, made_before timestamptz, from_time timestamptz, from_id text,
    most bigint, walk bigint)
RETURNS TABLE (said bigint, card_id text, content json, tool_calls jsonb, tool_call_id text,
               ttl_seconds integer, expires_at timestamptz, metadata jsonb, created_at timestamptz,
               sealed boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
SET enable_sort = off
AS $$
BEGIN
    IF NOT cardbox.session_sees(tenant) THEN
        RETURN;
    END IF;
    IF calls IS NOT NULL THEN
        RETURN QUERY
        SELECT CASE WHEN w.fits THEN 1 ELSE 0 END + CASE WHEN w.n = walk THEN 2 ELSE 0 END::bigint, w.card_id,
               CASE WHEN w.fits THEN coalesce(w.raw, w.content::text::json) END,
               CASE WHEN w.fits THEN w.tool_calls END, w.tool_call_id, w.ttl_seconds, w.expires_at,
               CASE WHEN w.fits THEN w.metadata END, w.created_at, w.sealed
          FROM (SELECT o.*, row_number() OVER () AS n
                  FROM (SELECT c.card_id, c.content, c.raw, c.tool_calls, c.tool_call_id, c.ttl_seconds,
                               c.expires_at, c.metadata, c.created_at, c.sealed,
                               c.content IS NOT NULL AND c.deleted_at IS NULL
                               AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())
                               AND (step IS NULL OR c.metadata ->> 'step_id' = step)
                               AND (kind IS NULL OR c.metadata ->> 'type' = kind)
                               AND (trace IS NULL OR c.metadata ->> 'trace_id' = trace)
                               AND (turn IS NULL OR c.metadata ->> 'agent_turn_id' = turn)
                               AND (said_by IS NULL OR c.metadata ->> 'role' = said_by)
                               AND (members IS NULL OR c.metadata @> members) AS fits
                          FROM (SELECT DISTINCT u.id FROM unnest(calls) AS u(id)) AS k
                         CROSS JOIN LATERAL (SELECT * FROM cardbox.cards x
                                              WHERE x.tenant_id = tenant AND x.tool_call_id = k.id OFFSET 0) AS c
                         WHERE (made_after IS NULL OR c.created_at > made_after)
                           AND (made_before IS NULL OR c.created_at < made_before)
                           AND (from_time IS NULL OR (c.created_at, c.card_id) < (from_time, from_id))
                         ORDER BY c.created_at DESC, c.card_id DESC
                         LIMIT walk) AS o) AS w
         WHERE w.fits OR w.n = walk
         LIMIT most;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT CASE WHEN w.fits THEN 1 ELSE 0 END + CASE WHEN w.n = walk THEN 2 ELSE 0 END::bigint, w.card_id,
           CASE WHEN w.fits THEN coalesce(w.raw, w.content::text::json) END,
           CASE WHEN w.fits THEN w.tool_calls END, w.tool_call_id, w.ttl_seconds, w.expires_at,
           CASE WHEN w.fits THEN w.metadata END, w.created_at, w.sealed
      FROM (SELECT o.*, row_number() OVER () AS n
              FROM (SELECT c.card_id, c.content, c.raw, c.tool_calls, c.tool_call_id, c.ttl_seconds,
                           c.expires_at, c.metadata, c.created_at, c.sealed,
                           c.content IS NOT NULL AND c.deleted_at IS NULL
                           AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())
                           AND (step IS NULL OR c.metadata ->> 'step_id' = step)
                           AND (kind IS NULL OR c.metadata ->> 'type' = kind)
                           AND (trace IS NULL OR c.metadata ->> 'trace_id' = trace)
                           AND (turn IS NULL OR c.metadata ->> 'agent_turn_id' = turn)
                           AND (said_by IS NULL OR c.metadata ->> 'role' = said_by)
                           AND (members IS NULL OR c.metadata @> members) AS fits
                      FROM cardbox.cards c,
                           LATERAL (SELECT CASE WHEN step IS NOT NULL THEN c.metadata ->> 'step_id'
                                                WHEN turn IS NOT NULL THEN c.metadata ->> 'agent_turn_id'
                                                WHEN trace IS NOT NULL THEN c.metadata ->> 'trace_id'
                                                WHEN kind IS NOT NULL THEN c.metadata ->> 'type' END AS key,
                                           coalesce(step, turn, trace, kind) AS value) AS i
                     WHERE c.tenant_id = tenant
                       AND (i.value IS NULL OR i.key = i.value AND i.key ~>=~ i.value AND i.key ~<=~ i.value)
                       AND (made_after IS NULL OR made_before IS NULL OR c.tenant_id BETWEEN tenant AND tenant)
                       AND (made_after IS NULL OR c.created_at > made_after)
                       AND (made_before IS NULL OR c.created_at < made_before)
                       AND (from_time IS NULL OR (c.created_at, c.card_id) < (from_time, from_id))
                     ORDER BY i.key USING ~>~, c.created_at DESC, c.card_id DESC
                     LIMIT walk) AS o) AS w
     WHERE w.fits OR w.n = walk
     LIMIT most;
END
$$;
REVOKE ALL ON FUNCTION cardbox.list_cards FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.list_cards TO cardbox_service, cardbox_worker;
