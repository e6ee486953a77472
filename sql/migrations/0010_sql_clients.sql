-- For programs that write by SQL: if the owner of the tables inserts a card without created_at, the card gets the
-- present time.
ALTER TABLE cardbox.cards ALTER COLUMN created_at SET DEFAULT clock_timestamp();
