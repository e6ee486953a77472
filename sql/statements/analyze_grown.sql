-- The table whose plans were made for a much smaller one, if there is one; they are made anew.
SELECT cardbox.analyze_grown()
