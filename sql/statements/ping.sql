-- Whether the database answers, and which migration it is at.
SELECT max(m.version) FROM cardbox.migrations m
