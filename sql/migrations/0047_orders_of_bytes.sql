-- The lists by what the metadata says compared with the database's own collation, which is slow, and which a newer
-- glibc or ICU under the same data changes: what an index has in the old order is not found in the new one. The
-- operators of text_pattern_ops compare bytes. They are chosen, and not COLLATE "C", because an equality is one for
-- both: servers of before 0043 have the filters in statements of their own, without COLLATE, and find a step, a turn
-- or a trace by these indexes too. Who writes cards waits while these are built, and who reads does not.
CREATE INDEX cards_of_step ON cardbox.cards
    (tenant_id, (metadata ->> 'step_id') text_pattern_ops, created_at, card_id)
    WHERE metadata ->> 'step_id' IS NOT NULL;
CREATE INDEX cards_of_turn ON cardbox.cards
    (tenant_id, (metadata ->> 'agent_turn_id') text_pattern_ops, created_at, card_id)
    WHERE metadata ->> 'agent_turn_id' IS NOT NULL;
CREATE INDEX cards_of_trace ON cardbox.cards
    (tenant_id, (metadata ->> 'trace_id') text_pattern_ops, created_at, card_id)
    WHERE metadata ->> 'trace_id' IS NOT NULL;
CREATE INDEX cards_of_type ON cardbox.cards
    (tenant_id, (metadata ->> 'type') text_pattern_ops, created_at, card_id)
    WHERE metadata ->> 'type' IS NOT NULL;

-- As in 0043, but for the operators of the order, which name the index, and of the two conditions that add nothing.
CREATE OR REPLACE FUNCTION cardbox.list_cards(
    tenant text, step text, kind text, trace text, turn text, said_by text, calls text[], members jsonb,
    made_after timestamptz, made_before timestamptz, from_time timestamptz, from_id text,
    most bigint, walk bigint)
RETURNS TABLE (said bigint, card_id text, content json, tool_calls jsonb, tool_call_id text,
               ttl_seconds integer, expires_at timestamptz, metadata jsonb, created_at timestamptz,
               sealed boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan AS $$
BEGIN
    IF NOT cardbox.session_sees(tenant) THEN
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
                           LATERAL (SELECT CASE WHEN calls IS NOT NULL THEN NULL
                                                WHEN step IS NOT NULL THEN c.metadata ->> 'step_id'
                                                WHEN turn IS NOT NULL THEN c.metadata ->> 'agent_turn_id'
                                                WHEN trace IS NOT NULL THEN c.metadata ->> 'trace_id'
                                                WHEN kind IS NOT NULL THEN c.metadata ->> 'type' END AS key,
                                           CASE WHEN calls IS NULL
                                                THEN coalesce(step, turn, trace, kind) END AS value) AS i
                     WHERE c.tenant_id = tenant
                       AND (calls IS NULL OR c.tool_call_id = ANY (calls))
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

-- As in 0043, but that a server's role is known by an expression that plpgsql evaluates by itself: with the query
-- about grants in the same expression each list ran that.
CREATE OR REPLACE FUNCTION cardbox.session_sees(tenant text) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asking name := coalesce(nullif(current_setting('role'), 'none'), session_user);
BEGIN
    IF pg_has_role(asking, 'cardbox_service', 'USAGE') THEN
        RETURN true;
    END IF;
    RETURN pg_has_role(asking, 'cardbox_worker', 'USAGE')
       AND EXISTS (SELECT FROM cardbox.tenant_grants g
                    WHERE g.tenant_id = session_sees.tenant AND g.role_name = asking);
END
$$;
