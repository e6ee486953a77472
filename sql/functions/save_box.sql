-- save_box: replaces the ids of a box. The earlier list stays readable: the tail is stored as a segment, so that the
-- old chain has all ids of the earlier list.
--   parents   Ids of parent boxes, for a box that is created.
--   expected  Version that the box must have; 0: any; NULL: any, and a missing box is created.
--   at        Time of the change, set by imports; NULL: now. If the time is before the box's last change, the time of
--             the last change is used.
--
-- Outcomes: 1 replaced or created, 2 the box already has these ids, 3 no such box, 4 the box has another version, 7 the
-- box was deleted, 11 the box is sealed. If `expected` is not NULL, a deleted box has the outcome 3.
CREATE OR REPLACE FUNCTION cardbox.save_box(
    tenant text, box uuid, ids jsonb, parents jsonb, expected bigint, at timestamptz,
    OUT outcome integer, OUT version bigint, OUT length bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    head  record;
    chain uuid;
    made  timestamptz;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    PERFORM cardbox.check_ids(ids), cardbox.check_time(at);
    IF expected IS NULL THEN
        SELECT c.outcome, c.version, c.length INTO outcome, version, length
          FROM cardbox.create_box(tenant, box, ids, parents, at, true) AS c;
        IF outcome <> 2 THEN
            RETURN;
        END IF;
    END IF;
    SELECT b.version, b.length, b.chain_id, b.own_from, b.tail, b.updated_at, b.sealed INTO head
      FROM cardbox.card_boxes b
     WHERE b.tenant_id = tenant AND b.box_id = box AND b.deleted_at IS NULL
       FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 3;
        RETURN;
    END IF;
    version := head.version;
    length := head.length;
    IF head.sealed OR expected > 0 AND expected <> head.version THEN
        outcome := CASE WHEN head.sealed THEN 11 ELSE 4 END;
        RETURN;
    END IF;
    IF head.length = jsonb_array_length(ids)
       AND ids = cardbox.all_ids(tenant, head.chain_id, head.own_from, head.length, head.tail) THEN
        outcome := 2;
        RETURN;
    END IF;
    IF head.tail <> '[]' THEN
        INSERT INTO cardbox.card_box_segments (tenant_id, chain_id, start, card_ids)
        VALUES (tenant, head.chain_id, head.length / 64 * 64, head.tail);
    END IF;
    chain := gen_random_uuid();
    made := greatest(coalesce(at, clock_timestamp()), head.updated_at);
    outcome := 1;
    version := head.version + 1;
    length := jsonb_array_length(ids);
    UPDATE cardbox.card_boxes b
       SET chain_id = chain, own_from = 0, tail = cardbox.seal_segments(tenant, chain, 0, ids),
           length = save_box.length, version = save_box.version, updated_at = made
     WHERE b.tenant_id = tenant AND b.box_id = box;
    INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, at)
    VALUES (tenant, box, save_box.version, 'replace', chain, save_box.length, save_box.length, made);
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.save_box TO cardbox_worker;
ALTER FUNCTION cardbox.save_box OWNER TO cardbox_writer;
