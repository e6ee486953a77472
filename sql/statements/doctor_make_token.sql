-- What only the owner may do, in a transaction that is rolled back. For `cardbox doctor`.
INSERT INTO cardbox.tokens (name, hash, scopes)
VALUES ('cardbox doctor', sha256('cardbox doctor'), ARRAY['read'])
