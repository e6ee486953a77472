-- check_message: trigger of messages: the card of a message must be sealed, alive and without an
-- expiry.
CREATE OR REPLACE FUNCTION cardbox.check_message() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM cardbox.cards c
                    WHERE c.tenant_id = NEW.tenant_id AND c.card_id = NEW.message_id
                      AND c.sealed AND c.expires_at IS NULL AND c.deleted_at IS NULL) THEN
        RAISE EXCEPTION 'message % needs a sealed card that never expires', NEW.message_id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
REVOKE ALL ON FUNCTION cardbox.check_message FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.check_message TO cardbox_service, cardbox_worker;
