-- delete_card: marks a card as deleted. Returns true if the card stays, because it is sealed or a message refers to
-- it. Returns false if the card was deleted now or before, and NULL if there is no such card.
CREATE OR REPLACE FUNCTION cardbox.delete_card(tenant text, card text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    old record;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    SELECT c.sealed, c.deleted_at INTO old FROM cardbox.cards c
     WHERE c.tenant_id = tenant AND c.card_id = card FOR UPDATE;
    IF NOT FOUND OR old.deleted_at IS NOT NULL THEN
        RETURN CASE WHEN FOUND THEN false END;
    ELSIF old.sealed OR cardbox.card_is_used(tenant, card) THEN
        RETURN true;
    END IF;
    UPDATE cardbox.cards c SET deleted_at = clock_timestamp() WHERE c.tenant_id = tenant AND c.card_id = card;
    RETURN false;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.delete_card TO cardbox_worker;
ALTER FUNCTION cardbox.delete_card OWNER TO cardbox_writer;
