-- Fails unless the role owns the table. `cardbox doctor` runs it in a transaction that it rolls back.
INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('cardbox doctor', current_user)
