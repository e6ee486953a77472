-- What only the owner may do, in a transaction that is rolled back. For `cardbox doctor`.
INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('cardbox doctor', current_user)
