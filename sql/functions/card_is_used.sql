-- card_is_used: whether a message needs a card. Lists of boxes may name cards that are gone, so they
-- do not count. The caller has locked the card, and its statement began after that.
CREATE OR REPLACE FUNCTION cardbox.card_is_used(tenant text, card text) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (SELECT FROM cardbox.messages m WHERE m.tenant_id = tenant AND m.message_id = card)
$$;
