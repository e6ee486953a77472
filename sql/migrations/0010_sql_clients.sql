-- Changes for programs that write by SQL. If the owner of the tables inserts a card without created_at, the card gets the
-- present time. The internal function append_to_box() is now append_ids(): these programs call a new append_to_box().
--
-- needs: append_ids
-- needs: append_to_boxes
ALTER TABLE cardbox.cards ALTER COLUMN created_at SET DEFAULT clock_timestamp();
DROP FUNCTION IF EXISTS cardbox.append_to_box (text, uuid, jsonb, bigint, text, boolean);
