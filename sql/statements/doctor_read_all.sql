-- After that: fails for a role that row-level security binds. For `cardbox doctor`.
SELECT EXISTS (SELECT FROM cardbox.cards)
