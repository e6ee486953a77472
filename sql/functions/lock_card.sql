-- lock_card: locks a card if it exists. Returns false if another transaction has locked the card and `waits` is false.
CREATE OR REPLACE FUNCTION cardbox.lock_card(tenant text, card text, waits boolean) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    IF waits THEN
        PERFORM FROM cardbox.cards c WHERE c.tenant_id = tenant AND c.card_id = card FOR UPDATE;
        RETURN true;
    END IF;
    PERFORM FROM cardbox.cards c WHERE c.tenant_id = tenant AND c.card_id = card FOR UPDATE SKIP LOCKED;
    RETURN FOUND OR NOT EXISTS (SELECT FROM cardbox.cards c WHERE c.tenant_id = tenant AND c.card_id = card);
END
$$;
