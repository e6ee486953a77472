-- boxes_containing: returns a page of the boxes that contain a card, newest first.
--   from_time, from_id  Creation time and id of the last box of the previous page.
--   page_size   Maximum number of boxes.
--   scan_limit  Maximum number of boxes to examine. Each segment that is searched without the index, and does not
--               contain the card, counts as a box too.
--
-- The column `flags` is 1 if the box contains the card, 2 if the search ended at this box because of scan_limit, 3 if
-- both.
--
-- The function runs with the owner's rights, after role_sees_tenant() has checked the caller: list_cards() explains
-- why.
--
-- An index finds segments that contain the card. Tails are not indexed, because then each append would write index
-- entries for the whole tail. Therefore the function examines the tenant's boxes one by one. A card can be in very many
-- segments, for example if all boxes begin with it. If the card is in more than chains_max chains, the index is not
-- searched further. The function then searches the segments of each examined box, unless its tail or the index has
-- shown the card.
CREATE OR REPLACE FUNCTION cardbox.boxes_containing(
    tenant text, card text, page_size bigint, from_time timestamptz, from_id uuid, scan_limit bigint)
RETURNS TABLE (flags bigint, box_id uuid, version bigint, length bigint, parent_ids jsonb, created_at timestamptz,
               updated_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    chains_max CONSTANT integer := 1000;
    chains     uuid[]; -- chains that contain the card, at most chains_max + 1 of them
    b          record;
    segment    bigint; -- position of the first segment that contains the card
    examined   bigint := 0;
    returned   bigint := 0;
    fits       boolean;
BEGIN
    IF NOT cardbox.role_sees_tenant(tenant) THEN
        RETURN;
    END IF;
    WITH RECURSIVE containing AS ( -- segments with the card, then chains that continue their chains
        SELECT s.chain_id, s.start
          FROM cardbox.card_box_segments s
         WHERE CASE WHEN s.tenant_id = tenant THEN s.card_ids ? card END -- test_costs.py test_costs: only the GIN index fits
           AND cardbox.id_keys(s.tenant_id, s.card_ids) @> ARRAY[cardbox.id_key(tenant, card)]
        UNION
        SELECT c.chain_id, h.start
          FROM containing h
         CROSS JOIN LATERAL ( -- test_costs.py test_costs: see chain_segments()
                SELECT x.chain_id FROM cardbox.card_box_chains x
                 WHERE x.tenant_id = tenant AND x.parent_chain_id = h.chain_id AND x.parent_length > h.start
                 ORDER BY x.parent_length) AS c
    )
    SELECT array_agg(f.chain_id) INTO chains FROM (SELECT h.chain_id FROM containing h LIMIT chains_max + 1) AS f;

    FOR b IN
        SELECT x.box_id, x.version, x.length, x.parent_ids, x.created_at, x.updated_at, x.chain_id,
               x.tail ? card AS in_tail, x.chain_id IN (SELECT u.id FROM unnest(chains) AS u(id)) AS in_chain
          FROM cardbox.card_boxes x
         WHERE x.tenant_id = tenant AND CASE WHEN x.deleted_at IS NULL THEN true ELSE false END -- as in card_boxes_live
           AND (x.created_at, x.box_id) < (from_time, from_id)
         ORDER BY x.created_at DESC, x.box_id DESC
    LOOP
        examined := examined + 1;
        fits := b.in_tail OR b.in_chain;
        IF NOT fits AND cardinality(chains) > chains_max AND b.length >= 64 THEN
            segment := cardbox.first_segment_containing(tenant, b.chain_id, b.length, card);
            fits := segment IS NOT NULL;
            scan_limit := scan_limit - CASE WHEN fits THEN segment ELSE b.length END / 64;
        END IF;
        IF fits OR examined >= scan_limit THEN
            returned := returned + 1;
            flags := fits::integer + CASE WHEN examined >= scan_limit THEN 2 ELSE 0 END;
            SELECT b.box_id, b.version, b.length, b.parent_ids, b.created_at, b.updated_at
              INTO box_id, version, length, parent_ids, created_at, updated_at;
            RETURN NEXT;
            EXIT WHEN returned >= page_size OR examined >= scan_limit;
        END IF;
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.boxes_containing TO cardbox_worker;
