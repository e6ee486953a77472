-- Fails unless the role owns the table tokens or is a superuser. `cardbox doctor` runs this INSERT in a transaction
-- that is rolled back.
INSERT INTO cardbox.tokens (name, hash, scopes)
VALUES ('cardbox doctor', sha256('cardbox doctor'), ARRAY['read'])
