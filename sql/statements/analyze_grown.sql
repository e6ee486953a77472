-- Analyzes a table that has become much larger than PostgreSQL's statistics: see the function.
SELECT cardbox.analyze_grown()
