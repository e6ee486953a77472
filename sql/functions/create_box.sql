-- create_box: creates a box.
--   at         Creation time; NULL: now.
--   may_exist  If the box already exists: true: the outcome is 2; false: the outcome is 6.
--
-- Outcomes: 1 created, 2 or 6 the box already exists, 7 a box with this id was deleted. The numbers are those of
-- box_outcome in the C code.
CREATE OR REPLACE FUNCTION cardbox.create_box(
    tenant text, box uuid, ids jsonb DEFAULT '[]', parents jsonb DEFAULT '[]', at timestamptz DEFAULT NULL,
    may_exist boolean DEFAULT true,
    OUT outcome integer, OUT version bigint, OUT length bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    head  record;
    made  timestamptz := coalesce(at, clock_timestamp());
    chain uuid := gen_random_uuid(); -- a new id: a chain of an earlier, removed box with the same id may still exist
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    PERFORM cardbox.check_ids(ids), cardbox.check_ids(parents), cardbox.check_time(at);
    IF box IS NULL OR lower(parents::text)::jsonb ? box::text THEN
        RAISE EXCEPTION 'a new box needs an id, which is not among its parents'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    length := jsonb_array_length(ids);
    INSERT INTO cardbox.card_boxes (tenant_id, box_id, chain_id, length, version, tail, parent_ids,
                                    created_at, updated_at)
    VALUES (tenant, box, chain, create_box.length, 1,
            cardbox.slice_ids(ids, create_box.length / 64 * 64, create_box.length), parents, made,
            made)
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM cardbox.seal_segments(tenant, chain, 0, ids);
        INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, at)
        VALUES (tenant, box, 1, 'create', chain, create_box.length, create_box.length, made);
        outcome := 1;
        version := 1;
        RETURN;
    END IF;
    SELECT b.version, b.length, b.deleted_at INTO head
      FROM cardbox.card_boxes b WHERE b.tenant_id = tenant AND b.box_id = box;
    outcome := CASE WHEN head.deleted_at IS NOT NULL THEN 7 WHEN may_exist THEN 2 ELSE 6 END;
    version := head.version;
    length := head.length;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.create_box TO cardbox_worker;
ALTER FUNCTION cardbox.create_box OWNER TO cardbox_writer;
