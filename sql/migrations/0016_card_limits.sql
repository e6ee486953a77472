-- The limits of the ids of cards. PostgreSQL parses and compiles each CHECK constraint of a table again for each
-- statement that writes to the table. The four constraints of the table cards cost a seventh of the instructions with
-- which PostgreSQL adds a card. The condition of a policy is part of the prepared plan.
--
-- So a policy now checks the service and the owner when they write rows themselves, and write_cards() checks the ids of
-- workers. The programs of CardBox check the ids before they call write_cards(). The function must be new as
-- soon as the constraints are gone.
--
-- needs: is_card_key
-- needs: check_card_keys
-- needs: write_cards
ALTER TABLE cardbox.cards
    DROP CONSTRAINT cards_tenant_id_check,
    DROP CONSTRAINT cards_card_id_check,
    DROP CONSTRAINT cards_tool_call_id_check,
    DROP CONSTRAINT cards_etag_check;
CREATE POLICY limits ON cardbox.cards AS RESTRICTIVE TO cardbox_service
    USING (true) WITH CHECK (cardbox.is_card_key(tenant_id, card_id, tool_call_id) AND etag > 0);
-- save_message() inserts a card with the id of the message. NOT VALID skips the check of the stored messages: each has a
-- card, whose id was checked.
ALTER TABLE cardbox.messages
    ADD CONSTRAINT messages_message_id_check CHECK (octet_length(message_id) BETWEEN 1 AND 512) NOT VALID;
