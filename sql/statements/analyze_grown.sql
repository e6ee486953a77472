-- Runs ANALYZE for a table that has become much larger than in PostgreSQL's statistics: see the function analyze_grown.
SELECT cardbox.analyze_grown()
