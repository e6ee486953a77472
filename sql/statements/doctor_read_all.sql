-- Fails if row-level security applies to the role. `cardbox doctor` runs this query after doctor_row_security_off.
SELECT EXISTS (SELECT FROM cardbox.cards)
