-- Fails unless the role may insert into the table tenant_grants, as the table's owner and superusers can. `cardbox
-- doctor` runs this INSERT in a transaction that is rolled back.
INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('cardbox doctor', current_user)
