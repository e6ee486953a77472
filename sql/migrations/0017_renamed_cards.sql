-- If a SQL client changes the id of a card, cards_queue_changed queues the new id. This trigger queues the old one, so
-- that its document is removed from the search. No function of CardBox changes ids.
--
-- needs: queue_cards
CREATE TRIGGER cards_queue_renamed AFTER UPDATE OF tenant_id, card_id ON cardbox.cards
    FOR EACH ROW EXECUTE FUNCTION cardbox.queue_cards();
