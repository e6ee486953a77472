-- boxes_containing: a page of the boxes that contain a card now, newest first. Each row's `said` is 1
-- if the box belongs to the page, 2 if the look ended at it, 3 if both.
--   from_time, from_id  the page starts behind this box
--   most                boxes of the page
--   walk                boxes that the look may examine; reading segments counts too
-- It runs as the schema's owner, after the question that the policies ask: see list_cards().
--
-- Sealed segments are found by their index. Tails have no index, because each append would then
-- write up to 64 index entries: so the boxes of the tenant are walked through. A card in very many
-- segments, such as one that all boxes begin with, is not searched everywhere for one page. Instead
-- each box on the way is searched, from its beginning on.
CREATE OR REPLACE FUNCTION cardbox.boxes_containing(
    tenant text, card text, most bigint, from_time timestamptz, from_id uuid, walk bigint)
RETURNS TABLE (said bigint, box_id uuid, version bigint, length bigint, parent_ids jsonb, created_at timestamptz,
               updated_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    few    CONSTANT integer := 1000;
    chains uuid[]; -- that hold it, or more than a few of them
    b      record;
    place  bigint; -- of the first segment with it
    seen   bigint := 0;
    given  bigint := 0;
    fits   boolean;
BEGIN
    IF NOT cardbox.role_sees_tenant(tenant) THEN
        RETURN;
    END IF;
    WITH RECURSIVE holding AS ( -- segments with it, then what continues their chains
        SELECT s.chain_id, s.start
          FROM cardbox.card_box_segments s
         WHERE CASE WHEN s.tenant_id = tenant THEN s.card_ids ? card END -- test_costs.py test_costs: by the GIN index alone
           AND cardbox.id_keys(s.tenant_id, s.card_ids) @> ARRAY[cardbox.id_key(tenant, card)]
        UNION
        SELECT c.chain_id, h.start
          FROM holding h
         CROSS JOIN LATERAL ( -- test_costs.py test_costs: as in chain_segments()
                SELECT x.chain_id FROM cardbox.card_box_chains x
                 WHERE x.tenant_id = tenant AND x.parent_chain_id = h.chain_id AND x.parent_length > h.start
                 ORDER BY x.parent_length) AS c
    )
    SELECT array_agg(f.chain_id) INTO chains FROM (SELECT h.chain_id FROM holding h LIMIT few + 1) AS f;

    FOR b IN
        SELECT x.box_id, x.version, x.length, x.parent_ids, x.created_at, x.updated_at, x.chain_id,
               x.tail ? card AS in_tail, x.chain_id IN (SELECT u.id FROM unnest(chains) AS u(id)) AS in_chain
          FROM cardbox.card_boxes x
         WHERE x.tenant_id = tenant AND CASE WHEN x.deleted_at IS NULL THEN true ELSE false END -- as in the index
           AND (x.created_at, x.box_id) < (from_time, from_id)
         ORDER BY x.created_at DESC, x.box_id DESC
    LOOP
        seen := seen + 1;
        fits := b.in_tail OR b.in_chain;
        IF NOT fits AND cardinality(chains) > few AND b.length >= 64 THEN
            place := cardbox.first_segment_containing(tenant, b.chain_id, b.length, card);
            fits := place IS NOT NULL;
            walk := walk - CASE WHEN fits THEN place ELSE b.length END / 64;
        END IF;
        IF fits OR seen >= walk THEN
            given := given + 1;
            said := fits::integer + CASE WHEN seen >= walk THEN 2 ELSE 0 END;
            SELECT b.box_id, b.version, b.length, b.parent_ids, b.created_at, b.updated_at
              INTO box_id, version, length, parent_ids, created_at, updated_at;
            RETURN NEXT;
            EXIT WHEN given >= most OR seen >= walk;
        END IF;
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.boxes_containing TO cardbox_worker;
