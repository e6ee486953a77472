-- Fails unless the role owns the table. `cardbox doctor` runs it in a transaction that it rolls back.
INSERT INTO cardbox.tokens (name, hash, scopes)
VALUES ('cardbox doctor', sha256('cardbox doctor'), ARRAY['read'])
