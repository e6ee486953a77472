-- Programs of others that write SQL: a card inserted by the tables' owner needs no creation time.
ALTER TABLE cardbox.cards ALTER COLUMN created_at SET DEFAULT clock_timestamp();
