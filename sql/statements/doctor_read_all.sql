-- Fails if row-level security applies to the role. The statement doctor_row_security_off, which `cardbox doctor` runs
-- before in the same transaction, causes this failure.
SELECT EXISTS (SELECT FROM cardbox.cards)
