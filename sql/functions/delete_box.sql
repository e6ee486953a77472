-- delete_box: marks a box as deleted. Returns true if the box exists, even if it was deleted before.
CREATE OR REPLACE FUNCTION cardbox.delete_box(tenant text, box uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    UPDATE cardbox.card_boxes b SET deleted_at = coalesce(b.deleted_at, clock_timestamp())
     WHERE b.tenant_id = tenant AND b.box_id = box;
    RETURN FOUND;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.delete_box TO cardbox_worker;
ALTER FUNCTION cardbox.delete_box OWNER TO cardbox_writer;
