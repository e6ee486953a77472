-- queue_cards: trigger of cards that adds the changed cards to the queue of the search. For a row whose id was changed,
-- it adds the old id.
CREATE OR REPLACE FUNCTION cardbox.queue_cards() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF TG_LEVEL = 'ROW' THEN
        INSERT INTO cardbox.search_queue (tenant_id, session_id, id) VALUES (OLD.tenant_id, '', OLD.card_id);
    ELSE
        INSERT INTO cardbox.search_queue (tenant_id, session_id, id) SELECT c.tenant_id, '', c.card_id FROM changed c;
    END IF;
    RETURN NULL;
END
$$;
