-- try_lock_gc: whether this transaction has the lock of gc now. It waits for nobody, unless the row
-- itself is missing.
CREATE OR REPLACE FUNCTION cardbox.try_lock_gc() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM cardbox.lock_rows k WHERE k.tenant_id = '' AND k.name = 'gc' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND AND NOT EXISTS (SELECT FROM cardbox.lock_rows k WHERE k.tenant_id = '' AND k.name = 'gc') THEN
        INSERT INTO cardbox.lock_rows (tenant_id, name) VALUES ('', 'gc') ON CONFLICT DO NOTHING;
        RETURN FOUND; -- a new row is locked by the transaction that inserts it
    END IF;
    RETURN FOUND;
END
$$;
