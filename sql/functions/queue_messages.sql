-- queue_messages: trigger of messages that adds the cards of new messages to the queue of the search. Usually the card
-- is new too, and is queued twice. But an import of a project writes the cards first, and the messages later.
-- There is no trigger for UPDATE and DELETE: the trigger messages_sealed rejects both.
CREATE OR REPLACE FUNCTION cardbox.queue_messages() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO cardbox.search_queue (tenant_id, session_id, id) SELECT m.tenant_id, '', m.message_id FROM changed m;
    RETURN NULL;
END
$$;
