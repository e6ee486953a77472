-- The limits of the ids of cards. PostgreSQL parses and compiles each CHECK constraint of a table again for each
-- statement that writes to the table. The four constraints of the table cards cost a seventh of the instructions with
-- which PostgreSQL adds a card. The condition of a policy is part of the prepared plan.
--
-- So a policy now checks the roles that may write to the table without functions, and write_cards() checks the roles of
-- workers. The programs of CardBox check the ids before they call write_cards().
--
-- needs: is_card_key
ALTER TABLE cardbox.cards
    DROP CONSTRAINT cards_tenant_id_check,
    DROP CONSTRAINT cards_card_id_check,
    DROP CONSTRAINT cards_tool_call_id_check,
    DROP CONSTRAINT cards_etag_check;
CREATE POLICY limits ON cardbox.cards AS RESTRICTIVE TO cardbox_service
    USING (true) WITH CHECK (cardbox.is_card_key(tenant_id, card_id, tool_call_id) AND etag > 0);
-- Other functions insert cards with the ids of messages. NOT VALID: the stored messages have the ids of cards.
ALTER TABLE cardbox.messages
    ADD CONSTRAINT messages_message_id_check CHECK (octet_length(message_id) BETWEEN 1 AND 512) NOT VALID;
