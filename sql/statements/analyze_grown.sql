-- The table whose plans were made for a much smaller one, if there is one. All connections plan again.
SELECT cardbox.analyze_grown()
