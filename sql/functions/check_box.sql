-- check_box: trigger of card_boxes: what an append does not change is checked only when it changes.
CREATE OR REPLACE FUNCTION cardbox.check_box() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF octet_length(NEW.tenant_id) NOT BETWEEN 1 AND 255 OR NOT cardbox.is_id_list(NEW.parent_ids) THEN
        RAISE EXCEPTION 'a box has a tenant of 1 to 255 bytes and parent_ids that are an array of strings'
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
REVOKE ALL ON FUNCTION cardbox.check_box FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.check_box TO cardbox_service, cardbox_worker;
