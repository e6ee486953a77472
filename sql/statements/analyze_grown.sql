-- Analyzes a table that has become much larger than it is in PostgreSQL's statistics: see the function analyze_grown.
SELECT cardbox.analyze_grown()
