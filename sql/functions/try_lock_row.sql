-- try_lock_row: tries to lock a row of lock_rows, and returns whether this transaction has locked it. The function waits
-- only if the row is missing and another transaction is inserting it.
--   lock  Name of a lock of the whole database: `gc` or `search`.
CREATE OR REPLACE FUNCTION cardbox.try_lock_row(lock text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM cardbox.lock_rows k WHERE k.tenant_id = '' AND k.name = lock FOR UPDATE SKIP LOCKED;
    IF NOT FOUND AND NOT EXISTS (SELECT FROM cardbox.lock_rows k WHERE k.tenant_id = '' AND k.name = lock) THEN
        INSERT INTO cardbox.lock_rows (tenant_id, name) VALUES ('', lock) ON CONFLICT DO NOTHING;
        RETURN FOUND; -- a transaction that inserts a row also locks it
    END IF;
    RETURN FOUND;
END
$$;
