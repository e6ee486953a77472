-- Without statistics PostgreSQL takes any tenant for as rare as any card, and read all segments of a tenant for
-- one. Of a CASE it thinks nothing, and so keeps to the index that says where the card is. From chain to
-- chain it goes by look-ups: see chain_segments.
CREATE OR REPLACE FUNCTION cardbox.chains_with_card(tenant text, card text) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT cardbox.session_sees(tenant) THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH RECURSIVE holding AS (
        SELECT s.chain_id, s.start
          FROM cardbox.card_box_segments s
         WHERE CASE WHEN s.tenant_id = tenant THEN s.card_ids ? card END
           AND cardbox.id_keys(s.tenant_id, s.card_ids) @> ARRAY[cardbox.id_key(tenant, card)]
        UNION
        SELECT c.chain_id, h.start
          FROM holding h
         CROSS JOIN LATERAL (
                SELECT x.chain_id FROM cardbox.card_box_chains x
                 WHERE x.tenant_id = tenant AND x.parent_chain_id = h.chain_id AND x.parent_length > h.start
                OFFSET 0) AS c
    )
    SELECT h.chain_id FROM holding h;
END
$$;
