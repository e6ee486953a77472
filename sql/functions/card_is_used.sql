-- card_is_used: returns whether a message refers to a card. Boxes do not count: their lists may contain ids of
-- cards that no longer exist. It reads with the snapshot of the caller's statement. delete_card() locks the card in an
-- earlier statement, so that this snapshot has all messages that were committed before the lock.
CREATE OR REPLACE FUNCTION cardbox.card_is_used(tenant text, card text) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (SELECT FROM cardbox.messages m WHERE m.tenant_id = tenant AND m.message_id = card)
$$;
