-- fork_box: makes a box that begins as `box` is now, was at a version, or with its first at_length
-- ids. The head is not locked against changes, but read together with the log: what lies below a
-- length on a chain never changes.
-- Outcomes: 1 done  3 no such box  6 the new box exists  8 no such version or length
-- 10 the log claims more ids than the box has
CREATE OR REPLACE FUNCTION cardbox.fork_box(
    tenant text, box uuid, new_box uuid, at_version bigint, at_length bigint,
    OUT outcome integer, OUT version bigint, OUT length bigint)
LANGUAGE plpgsql
AS $$
DECLARE
    head    record;
    floor   bigint;
    depth   integer;
    partial jsonb := '[]';
    chain   uuid := gen_random_uuid();
    made    timestamptz := clock_timestamp();
BEGIN
    -- As a foreign key would: the box may change, but what it has is not removed before this ends.
    PERFORM FROM cardbox.card_boxes b
      WHERE b.tenant_id = tenant AND b.box_id = box AND b.deleted_at IS NULL FOR KEY SHARE;
    SELECT b.chain_id AS last_chain, b.length AS last_length, b.tail, w.chain_id, w.length
      INTO head
      FROM cardbox.card_boxes b
      LEFT JOIN LATERAL (
            SELECT b.chain_id, coalesce(at_length, b.length) AS length
             WHERE at_version IS NULL AND (at_length IS NULL OR at_length BETWEEN 0 AND b.length)
            UNION ALL
            SELECT l.chain_id, l.length FROM cardbox.card_box_log l
             WHERE l.tenant_id = tenant AND l.box_id = box AND l.version = at_version) AS w ON true
     WHERE b.tenant_id = tenant AND b.box_id = box AND b.deleted_at IS NULL;
    IF NOT FOUND OR head.chain_id IS NULL THEN
        outcome := CASE WHEN FOUND THEN 8 ELSE 3 END;
        RETURN;
    END IF;
    length := head.length;
    floor := length / 64 * 64;
    IF length > floor THEN
        SELECT cardbox.slice_ids(p.card_ids, 0, fork_box.length - floor) INTO partial
          FROM (SELECT * FROM cardbox.chain_segments(tenant, head.chain_id, 9223372036854775807,
                                                     floor, fork_box.length)
                UNION ALL
                SELECT head.last_length / 64 * 64, head.tail
                 WHERE head.last_chain = head.chain_id) AS p
         WHERE p.start = floor;
    END IF;
    -- A log's row may claim more ids than there are, since roles of workers may insert it. This looks at the
    -- segment that the fork copies and at the one before: to count all would cost each fork of a long box
    -- as much as the box is long.
    IF coalesce(jsonb_array_length(partial), 0) <> length - floor
       OR floor > 0 AND NOT EXISTS (
            SELECT FROM cardbox.chain_segments(tenant, head.chain_id, 9223372036854775807, floor - 64, floor) AS s
             WHERE s.start = floor - 64 AND jsonb_array_length(s.card_ids) = 64) THEN
        outcome := 10;
        RETURN;
    END IF;
    SELECT coalesce(max(c.depth), 0) + 1 INTO depth FROM cardbox.card_box_chains c
     WHERE c.tenant_id = tenant AND c.chain_id = head.chain_id;
    INSERT INTO cardbox.card_boxes (tenant_id, box_id, chain_id, own_from, length, version, tail,
                                    parent_ids, created_at, updated_at)
    VALUES (tenant, new_box, chain, CASE WHEN depth > 256 THEN 0 ELSE floor END,
            fork_box.length, 1, partial, jsonb_build_array(box), made, made)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        outcome := 6;
        RETURN;
    END IF;
    IF floor > 0 AND depth > 256 THEN
        INSERT INTO cardbox.card_box_segments (tenant_id, chain_id, start, card_ids)
        SELECT tenant, chain, s.start, s.card_ids
          FROM cardbox.chain_segments(tenant, head.chain_id, 9223372036854775807, 0, floor) AS s;
    ELSIF floor > 0 THEN
        INSERT INTO cardbox.card_box_chains (tenant_id, chain_id, parent_chain_id, parent_length,
                                             depth)
        VALUES (tenant, chain, head.chain_id, floor, depth);
    END IF;
    INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, at)
    VALUES (tenant, new_box, 1, 'fork', chain, fork_box.length, fork_box.length, made);
    outcome := 1;
    version := 1;
END
$$;
REVOKE ALL ON FUNCTION cardbox.fork_box FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.fork_box TO cardbox_service, cardbox_worker;
