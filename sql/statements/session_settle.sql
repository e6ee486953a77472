-- Links what an import left: see the function.
-- $1 text tenant, $2 text session
SELECT s.entry_id, s.outcome, s.seq FROM cardbox.settle_session($1::text, $2::text) AS s
