-- What an index finds by a function that is not leakproof is found by it for workers too. Behind a policy
-- that has to look at each row PostgreSQL asks the row first, whether this role may see it, and `->>` or `@>`
-- only of those: no index can be asked for them, and a page of a step's cards was a look at all cards of all
-- tenants. Only a superuser may say of a function that it is leakproof, and none that takes a jsonb is; key
-- columns beside the metadata would need each table to be written anew, and cost each write.
--
-- So these two looks are taken with the rights of the schema's owner, for one tenant each, after the
-- question that the policies put of each row: is it granted to this role?

-- Whether the role that asked may see a tenant, as the policies say it. Asked by functions that have other
-- rights than their caller, it is the role of the session: where a caller has other rights than its session,
-- this may say no where a policy says yes, and never gives a session what it could not have by itself.
CREATE FUNCTION cardbox.session_sees(tenant text) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asking name := coalesce(nullif(current_setting('role'), 'none'), session_user);
BEGIN
    RETURN pg_has_role(asking, 'cardbox_service', 'USAGE')
        OR pg_has_role(asking, 'cardbox_worker', 'USAGE')
           AND EXISTS (SELECT FROM cardbox.tenant_grants g
                        WHERE g.tenant_id = session_sees.tenant AND g.role_name = asking);
END
$$;

-- A page of cards, newest first, each with whether it is one of the page (1), and whether the walk ended at
-- it (2), or both (3). Planned anew each time: NULL parameters fall out of the plan, and one index is walked:
-- that of the calls, a step, a turn, a trace or a type, else that of all cards by time. Everything else is
-- asked of each card on the way, and of no more than `walk` of them: a filter that hardly any card meets
-- gives a short page, and says where to go on. An index on all members of the metadata would cost each
-- insert several entries, and gives its matches in no order.
-- The first key of the order is the same in all rows. It names the index: behind row-level security
-- PostgreSQL does not see by itself that the filter, which is not leakproof, makes its key constant.
-- Without statistics PostgreSQL expects a few cards of any filter, and would sort them. A BETWEEN that adds
-- nothing makes it expect none, for which the index that gives the order is best.
-- The order of the walk stays: nothing above it sorts.
CREATE FUNCTION cardbox.list_cards(
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
                       AND (i.value IS NULL OR i.key = i.value AND i.key BETWEEN i.value AND i.value)
                       AND (made_after IS NULL OR made_before IS NULL OR c.tenant_id BETWEEN tenant AND tenant)
                       AND (made_after IS NULL OR c.created_at > made_after)
                       AND (made_before IS NULL OR c.created_at < made_before)
                       AND (from_time IS NULL OR (c.created_at, c.card_id) < (from_time, from_id))
                     ORDER BY i.key DESC, c.created_at DESC, c.card_id DESC
                     LIMIT walk) AS o) AS w
     WHERE w.fits OR w.n = walk
     LIMIT most;
END
$$;

-- The chains in whose sealed segments a card is, their own or those of the chains that they continue.
CREATE FUNCTION cardbox.chains_with_card(tenant text, card text) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT cardbox.session_sees(tenant) THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH RECURSIVE holding AS (
        SELECT s.chain_id, s.start
          FROM cardbox.card_box_segments s
         WHERE s.tenant_id = tenant AND s.card_ids ? card
           AND cardbox.id_keys(s.tenant_id, s.card_ids) @> ARRAY[cardbox.id_key(tenant, card)]
        UNION
        SELECT c.chain_id, h.start
          FROM holding h
          JOIN cardbox.card_box_chains c
            ON c.tenant_id = tenant AND c.parent_chain_id = h.chain_id AND c.parent_length > h.start
    )
    SELECT h.chain_id FROM holding h;
END
$$;

REVOKE EXECUTE ON FUNCTION cardbox.session_sees, cardbox.list_cards, cardbox.chains_with_card FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.list_cards, cardbox.chains_with_card TO cardbox_service, cardbox_worker;
