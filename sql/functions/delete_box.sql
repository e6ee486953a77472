-- delete_box: marks a box as deleted. Returns true if the box was deleted now or before, false if there is no such box,
-- and NULL if the box stays, because it is sealed.
CREATE OR REPLACE FUNCTION cardbox.delete_box(tenant text, box uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    UPDATE cardbox.card_boxes b SET deleted_at = coalesce(b.deleted_at, clock_timestamp())
     WHERE b.tenant_id = tenant AND b.box_id = box AND NOT b.sealed;
    IF FOUND THEN
        RETURN true;
    END IF;
    RETURN CASE WHEN NOT EXISTS (SELECT FROM cardbox.card_boxes b WHERE b.tenant_id = tenant AND b.box_id = box)
                THEN false END;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.delete_box TO cardbox_worker;
ALTER FUNCTION cardbox.delete_box OWNER TO cardbox_writer;
