-- seal_box: seals a box: its list can't be changed any more, and it can't be deleted.
--   at  Time of the change, set by imports, as in save_box().
--
-- Outcomes: 1 sealed, 2 the box was sealed before, and nothing was written, 3 no such box, or it was deleted.
CREATE OR REPLACE FUNCTION cardbox.seal_box(
    tenant text, box uuid, at timestamptz, OUT outcome integer, OUT version bigint, OUT length bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    head record;
    made timestamptz;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    PERFORM cardbox.check_time(at);
    SELECT b.version, b.length, b.chain_id, b.updated_at, b.sealed INTO head
      FROM cardbox.card_boxes b
     WHERE b.tenant_id = tenant AND b.box_id = box AND b.deleted_at IS NULL
       FOR NO KEY UPDATE;
    outcome := CASE WHEN NOT FOUND THEN 3 WHEN head.sealed THEN 2 ELSE 1 END;
    version := head.version;
    length := head.length;
    IF outcome <> 1 THEN
        RETURN;
    END IF;
    version := head.version + 1;
    made := greatest(coalesce(at, clock_timestamp()), head.updated_at);
    UPDATE cardbox.card_boxes b SET sealed = true, version = seal_box.version, updated_at = made
     WHERE b.tenant_id = tenant AND b.box_id = box;
    INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, at)
    VALUES (tenant, box, seal_box.version, 'seal', head.chain_id, head.length, 0, made);
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.seal_box TO cardbox_worker;
ALTER FUNCTION cardbox.seal_box OWNER TO cardbox_writer;
