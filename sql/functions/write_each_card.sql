-- write_each_card: writes the new cards with one statement, and the others one by one. Part of write_cards().
--   waits  Whether to wait for cards that another transaction has locked.
--
-- One statement inserts the cards whose ids are not stored, unless they conflict with other cards. The random etag of
-- an inserted row shows which element of the arrays it is. The function upsert_card() writes the cards that are left.
CREATE OR REPLACE FUNCTION cardbox.write_each_card(
    tenants text[], card_ids text[], contents json[], tool_calls jsonb[], tool_call_ids text[],
    ttls integer[], metadatas jsonb[], created timestamptz[], expires timestamptz[],
    deleted timestamptz[], seals boolean[], stricts boolean[], restores boolean[], waits boolean)
RETURNS TABLE (ord bigint, outcome integer, other_id text)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    count CONSTANT integer := cardinality(card_ids);
    begun CONSTANT timestamptz := clock_timestamp();
    done  bigint[] := '{}';
    made  timestamptz;
    i     integer;
BEGIN
    outcome := 1;
    FOR ord IN
        WITH given AS (
            SELECT g.*, coalesce(g.created, begun + g.ord * interval '1 microsecond') AS made,
                   cardbox.random_etag() AS etag,
                   CASE WHEN g.metadata ->> 'type' = 'tool.result' THEN g.tool_call_id COLLATE "C" END AS call
              FROM unnest(tenants, card_ids, contents, tool_calls, tool_call_ids, ttls, metadatas, created,
                          expires, deleted, seals) WITH ORDINALITY
                   AS g(tenant_id, card_id, content, tool_calls, tool_call_id, ttl, metadata, created,
                        expires, deleted, sealed, ord)
        ), inserted AS (
            INSERT INTO cardbox.cards AS c (tenant_id, card_id, content, tool_calls, tool_call_id, ttl_seconds,
                                            expires_at, deleted_at, metadata, created_at, etag, sealed)
            SELECT g.tenant_id, g.card_id, g.content, g.tool_calls, g.tool_call_id, g.ttl,
                   coalesce(g.expires, g.made + make_interval(secs => g.ttl)), g.deleted, g.metadata, g.made,
                   g.etag, g.sealed
              FROM given g
             WHERE (SELECT x.etag FROM cardbox.cards x WHERE x.tenant_id = g.tenant_id COLLATE "C"
                       AND x.card_id = g.card_id COLLATE "C") IS NULL
             ORDER BY g.tenant_id COLLATE "C", g.call NULLS FIRST, g.card_id COLLATE "C", g.ord
            ON CONFLICT DO NOTHING
            RETURNING c.etag
        )
        SELECT g.ord FROM given g WHERE g.etag IN (SELECT n.etag FROM inserted n)
    LOOP
        done := done || ord;
        RETURN NEXT;
    END LOOP;
    IF cardinality(done) = count THEN
        RETURN;
    END IF;
    FOR i IN
        SELECT g.n FROM generate_series(1, count) AS g(n) WHERE g.n <> ALL (done)
         ORDER BY tenants[g.n] COLLATE "C", CASE WHEN metadatas[g.n] ->> 'type' = 'tool.result'
                  THEN tool_call_ids[g.n] COLLATE "C" END NULLS FIRST, card_ids[g.n] COLLATE "C", g.n
    LOOP
        ord := i;
        made := coalesce(created[i], begun + ord * interval '1 microsecond');
        SELECT u.outcome, u.other_id INTO outcome, other_id FROM cardbox.upsert_card(
            ROW(tenants[i], card_ids[i], contents[i], tool_calls[i], tool_call_ids[i], ttls[i],
                coalesce(expires[i], made + make_interval(secs => ttls[i])), deleted[i], metadatas[i], made,
                cardbox.random_etag(), seals[i])::cardbox.cards, stricts[i], restores[i], waits) AS u;
        RETURN NEXT;
    END LOOP;
END
$$;
