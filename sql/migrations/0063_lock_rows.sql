-- gc and imports of one project run one at a time. They took advisory locks for that, which any role that may connect
-- can hold as long as it likes. Now each is the lock of a row in a table that only the functions below lock: roles of
-- workers have no right to it, the service may only read it, to name the session that holds a lock. A row's lock ends
-- with its transaction, as the advisory locks did: also behind a pooler in transaction mode, and when a client dies.
CREATE TABLE cardbox.lock_rows (
    tenant_id text COLLATE "C" NOT NULL, -- '': the lock is of the whole database
    name      text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, name)
);
ALTER TABLE cardbox.lock_rows ALTER COLUMN tenant_id SET STATISTICS 0, ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE cardbox.lock_rows ENABLE ROW LEVEL SECURITY;
ALTER TABLE cardbox.lock_rows FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON cardbox.lock_rows TO cardbox_service USING (true) WITH CHECK (true);
GRANT SELECT ON cardbox.lock_rows TO cardbox_service;

-- Whether this transaction has the lock of gc now. It waits for nobody, unless the row itself is missing.
CREATE FUNCTION cardbox.try_lock_gc() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM cardbox.lock_rows k WHERE k.tenant_id = '' AND k.name = 'gc' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND AND NOT EXISTS (SELECT FROM cardbox.lock_rows k WHERE k.tenant_id = '' AND k.name = 'gc') THEN
        INSERT INTO cardbox.lock_rows (tenant_id, name) VALUES ('', 'gc') ON CONFLICT DO NOTHING;
        RETURN FOUND; -- a new row is locked by the transaction that inserts it
    END IF;
    RETURN FOUND;
END
$$;

-- Waits until this transaction has the lock of a project's ledger. A role that does not see the project locks nothing:
-- row-level security then refuses what it writes.
CREATE FUNCTION cardbox.lock_ledger(tenant text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

REVOKE EXECUTE ON FUNCTION cardbox.try_lock_gc, cardbox.lock_ledger FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.try_lock_gc TO cardbox_service;
GRANT EXECUTE ON FUNCTION cardbox.lock_ledger TO cardbox_service, cardbox_worker;
SELECT cardbox.try_lock_gc(); -- which makes the row

DO $$
DECLARE
    changes CONSTANT text[] := ARRAY[
        ARRAY['collect', $old$IF NOT pg_try_advisory_xact_lock(hashtextextended('cardbox.collect', 0)) THEN$old$,
                         $new$IF NOT cardbox.try_lock_gc() THEN$new$],
        ARRAY['save_ledger',
              $old$PERFORM pg_advisory_xact_lock(hashtextextended(tenant, hashtextextended('cardbox.save_ledger', 0)));$old$,
              $new$PERFORM cardbox.lock_ledger(tenant);$new$],
        -- A log's row may claim more ids than there are, since roles of workers may insert it. A fork is then refused
        -- (outcome 10). It looks at the segment that it copies and at the one before: to count all would cost each
        -- fork of a long box as much as the box is long.
        ARRAY['fork_box', $old$    SELECT coalesce(max(c.depth), 0) + 1 INTO depth$old$,
              $new$    IF coalesce(jsonb_array_length(partial), 0) <> length - floor
       OR floor > 0 AND NOT EXISTS (
            SELECT FROM cardbox.chain_segments(tenant, head.chain_id, 9223372036854775807, floor - 64, floor) AS s
             WHERE s.start = floor - 64 AND jsonb_array_length(s.card_ids) = 64) THEN
        outcome := 10;
        RETURN;
    END IF;
    SELECT coalesce(max(c.depth), 0) + 1 INTO depth$new$]];
    change text[];
    said   text;
BEGIN
    FOREACH change SLICE 1 IN ARRAY changes LOOP
        SELECT pg_get_functiondef(p.oid) INTO STRICT said FROM pg_proc p
         WHERE p.pronamespace = 'cardbox'::regnamespace AND p.proname = change[1];
        ASSERT position(change[2] IN said) > 0, change[1];
        EXECUTE replace(said, change[2], change[3]);
    END LOOP;
END
$$;
