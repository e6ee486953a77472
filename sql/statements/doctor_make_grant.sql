-- Fails unless the role owns the table tenant_grants or is a superuser. `cardbox doctor` runs this INSERT in a
-- transaction that is rolled back.
INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('cardbox doctor', current_user)
