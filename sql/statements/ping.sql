-- Returns the newest applied migration, to check that the database answers.
SELECT max(m.version) FROM cardbox.migrations m
