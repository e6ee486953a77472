-- Fails for a role that row-level security binds. `cardbox doctor` runs it after doctor_row_security_off.
SELECT EXISTS (SELECT FROM cardbox.cards)
