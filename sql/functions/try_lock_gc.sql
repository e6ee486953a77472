-- try_lock_gc: returns whether this transaction now has the lock of gc. It does not wait, unless the row of the lock
-- is missing.
CREATE OR REPLACE FUNCTION cardbox.try_lock_gc() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM cardbox.lock_rows k WHERE k.tenant_id = '' AND k.name = 'gc' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND AND NOT EXISTS (SELECT FROM cardbox.lock_rows k WHERE k.tenant_id = '' AND k.name = 'gc') THEN
        INSERT INTO cardbox.lock_rows (tenant_id, name) VALUES ('', 'gc') ON CONFLICT DO NOTHING;
        RETURN FOUND; -- the transaction that inserts a row has its lock
    END IF;
    RETURN FOUND;
END
$$;
