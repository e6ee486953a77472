-- card_is_used: returns whether a message refers to a card. Boxes do not count: their lists may contain ids of cards
-- that no longer exist. The function uses the snapshot of the statement that calls it. In delete_card() the calling
-- statement begins after the card was locked, so its snapshot has all messages that were committed before the lock.
CREATE OR REPLACE FUNCTION cardbox.card_is_used(tenant text, card text) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (SELECT FROM cardbox.messages m WHERE m.tenant_id = tenant AND m.message_id = card)
$$;
