-- queue_cards: trigger of cards that adds the changed cards to the queue of the search.
CREATE OR REPLACE FUNCTION cardbox.queue_cards() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO cardbox.search_queue (tenant_id, session_id, id) SELECT c.tenant_id, '', c.card_id FROM changed c;
    RETURN NULL;
END
$$;
