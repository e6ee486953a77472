-- try_lock_gc: tries to acquire the lock of gc, and returns whether this transaction has it. The function waits only
-- if the lock's row is missing and another transaction is inserting it.
CREATE OR REPLACE FUNCTION cardbox.try_lock_gc() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM cardbox.lock_rows k WHERE k.tenant_id = '' AND k.name = 'gc' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND AND NOT EXISTS (SELECT FROM cardbox.lock_rows k WHERE k.tenant_id = '' AND k.name = 'gc') THEN
        INSERT INTO cardbox.lock_rows (tenant_id, name) VALUES ('', 'gc') ON CONFLICT DO NOTHING;
        RETURN FOUND; -- a transaction that inserts a row also locks it
    END IF;
    RETURN FOUND;
END
$$;
