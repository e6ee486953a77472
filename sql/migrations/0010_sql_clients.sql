-- Programs of others that write SQL: a card inserted by the tables' owner needs no creation time. The function that other
-- functions called append_to_box() is now append_ids(), and append_to_box() is a function for such programs.
--
-- needs: append_ids
-- needs: append_to_boxes
ALTER TABLE cardbox.cards ALTER COLUMN created_at SET DEFAULT clock_timestamp();
DROP FUNCTION IF EXISTS cardbox.append_to_box (text, uuid, jsonb, bigint, text, boolean);
