-- import_box: writes a box of an import, with save_box(), and seals it if `seals` is true. A box that is sealed already
-- stays unchanged: its outcome is 2 if it has these ids, and 11 if not. Other outcomes: 1 created, replaced or sealed,
-- and those of save_box(). The column `version` is 1 if the box was created, even if it was sealed afterwards.
CREATE OR REPLACE FUNCTION cardbox.import_box(
    tenant text, box uuid, ids jsonb, parents jsonb, at timestamptz, seals boolean,
    OUT outcome integer, OUT version bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    has_ids boolean;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    SELECT s.outcome, s.version INTO outcome, version
      FROM cardbox.save_box(tenant, box, ids, parents, NULL, at) AS s;
    IF outcome = 11 THEN
        SELECT b.length = jsonb_array_length(ids)
               AND ids = cardbox.all_ids(tenant, b.chain_id, b.own_from, b.length, b.tail) INTO has_ids
          FROM cardbox.card_boxes b WHERE b.tenant_id = tenant AND b.box_id = box;
        outcome := CASE WHEN has_ids THEN 2 ELSE 11 END;
    ELSIF seals AND outcome = 1 THEN
        PERFORM cardbox.seal_box(tenant, box, at);
    ELSIF seals AND outcome = 2 THEN
        SELECT s.outcome, s.version INTO outcome, version FROM cardbox.seal_box(tenant, box, at) AS s;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.import_box TO cardbox_worker;
ALTER FUNCTION cardbox.import_box OWNER TO cardbox_writer;
