-- set_boxes_created: sets the creation times of boxes that an import has just written. The arrays are parallel.
CREATE OR REPLACE FUNCTION cardbox.set_boxes_created(tenants text[], boxes uuid[], times timestamptz[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(tenants);
    END IF;
    IF '{infinity,-infinity}' && times THEN
        RAISE EXCEPTION 'a time must be finite' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    UPDATE cardbox.card_boxes b SET created_at = g.created_at
      FROM unnest(tenants, boxes, times) AS g(tenant_id, box_id, created_at)
     WHERE b.tenant_id = g.tenant_id COLLATE "C" AND b.box_id = g.box_id;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.set_boxes_created TO cardbox_worker;
ALTER FUNCTION cardbox.set_boxes_created OWNER TO cardbox_writer;
