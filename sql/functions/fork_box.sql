-- fork_box: creates a box whose list is the current list of `box`, its list at a version, or its first at_length ids.
-- The fork can share the chain of `box`, because the ids at the positions of a chain never change. Outcomes: 1 created;
-- 6 a box, perhaps a deleted one, has the id new_box; or those of fork_point().
CREATE OR REPLACE FUNCTION cardbox.fork_box(
    tenant text, box uuid, new_box uuid, at_version bigint, at_length bigint,
    OUT outcome integer, OUT version bigint, OUT length bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    point record;
    floor bigint;
    depth integer;
    chain uuid := gen_random_uuid();
    made  timestamptz := clock_timestamp();
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    -- The lock keeps gc from removing the segments of the box, and does not block appends to the box.
    PERFORM FROM cardbox.card_boxes b
      WHERE b.tenant_id = tenant AND b.box_id = box AND b.deleted_at IS NULL FOR KEY SHARE;
    SELECT * INTO point FROM cardbox.fork_point(tenant, box, at_version, at_length);
    outcome := point.outcome;
    length := point.length;
    IF outcome <> 1 THEN
        RETURN;
    END IF;
    floor := length / 64 * 64;
    SELECT coalesce(max(c.depth), 0) + 1 INTO depth FROM cardbox.card_box_chains c
     WHERE c.tenant_id = tenant AND c.chain_id = point.chain;
    INSERT INTO cardbox.card_boxes (tenant_id, box_id, chain_id, own_from, length, version, tail,
                                    parent_ids, created_at, updated_at)
    VALUES (tenant, new_box, chain, CASE WHEN depth > 256 THEN 0 ELSE floor END,
            fork_box.length, 1, point.partial, jsonb_build_array(box), made, made)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        outcome := 6;
        RETURN;
    END IF;
    IF floor > 0 AND depth > 256 THEN
        INSERT INTO cardbox.card_box_segments (tenant_id, chain_id, start, card_ids)
        SELECT tenant, chain, s.start, s.card_ids
          FROM cardbox.chain_segments(tenant, point.chain, 9223372036854775807, 0, floor) AS s;
    ELSIF floor > 0 THEN
        INSERT INTO cardbox.card_box_chains (tenant_id, chain_id, parent_chain_id, parent_length,
                                             depth)
        VALUES (tenant, chain, point.chain, floor, depth);
    END IF;
    INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, at)
    VALUES (tenant, new_box, 1, 'fork', chain, fork_box.length, fork_box.length, made);
    version := 1;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.fork_box TO cardbox_worker;
ALTER FUNCTION cardbox.fork_box OWNER TO cardbox_writer;
