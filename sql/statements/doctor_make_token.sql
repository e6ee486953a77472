-- Fails unless the role may insert into the table tokens, as the table's owner and superusers can. `cardbox doctor`
-- runs this INSERT in a transaction that is rolled back.
INSERT INTO cardbox.tokens (name, hash, scopes)
VALUES ('cardbox doctor', sha256('cardbox doctor'), ARRAY['read'])
