-- lock_ledger: acquires the ledger lock of a project until the transaction ends. If another transaction holds the lock,
-- lock_ledger() waits. The function save_ledger() calls lock_ledger() if several tasks are saved.
CREATE OR REPLACE FUNCTION cardbox.lock_ledger(tenant text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM FROM cardbox.lock_rows k WHERE k.tenant_id = tenant AND k.name = 'ledger' FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO cardbox.lock_rows AS k (tenant_id, name) VALUES (tenant, 'ledger')
        ON CONFLICT ON CONSTRAINT lock_rows_pkey DO UPDATE SET name = excluded.name;
    END IF;
END
$$;
