-- lock_ledger: waits until this transaction has the lock of a project's ledger. A role that does not
-- see the project locks nothing: row-level security then refuses what it writes.
CREATE OR REPLACE FUNCTION cardbox.lock_ledger(tenant text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT cardbox.session_sees(tenant) THEN
        RETURN;
    END IF;
    PERFORM FROM cardbox.lock_rows k WHERE k.tenant_id = tenant AND k.name = 'ledger' FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO cardbox.lock_rows AS k (tenant_id, name) VALUES (tenant, 'ledger')
        ON CONFLICT ON CONSTRAINT lock_rows_pkey DO UPDATE SET name = excluded.name;
    END IF;
END
$$;
REVOKE ALL ON FUNCTION cardbox.lock_ledger FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.lock_ledger TO cardbox_service, cardbox_worker;
