-- Tables for gc (`cardbox gc`, and cardboxd in the background) and for locks. The gc removes expired and deleted cards
-- with their revisions, deleted boxes with their logs, and lines of deleted sessions. Chains and segments that nothing
-- can read any more are also removed. Each batch of gc has its own transaction.
--
-- needs: protect
--
-- A chain belongs to the box for which it was created, by a creation, a fork or a save of the box. The segments of a
-- chain are read through the head of that box, through the box's log, and through chains of forks that continue the
-- chain. When gc removes a box, the chains of the box become orphans. The segments of an orphan are needed only below
-- the largest parent_length of the chains that continue the orphan. If no chain continues the orphan, no segment of it
-- is needed. When gc removes an orphan, the orphan's parent chain is examined again if the parent chain is an orphan.
--
-- gc is safe while other transactions write. Only a fork could need an orphan's segments again: a fork reads the head
-- of its parent box, and its row in card_box_chains is invisible until the fork commits.
--   * A fork locks the head of its parent box FOR KEY SHARE until its transaction ends. Before gc makes orphans, gc
--     locks the head of a deleted box FOR UPDATE, and skips a locked head. The two locks exclude each other.
--   * If the fork has locked the head first, gc leaves the box to a later batch. Before that batch the fork has either
--     committed, and its chain is visible, or failed. If gc has locked the head first, the fork waits, and then finds
--     the box deleted.
--   * gc examines orphans with statements that begin after gc has locked the head. Each statement has its own snapshot,
--     because the isolation level is READ COMMITTED, which gc_batch checks. So the statements see all chains that
--     continue an orphan. No new chain can continue the orphan, because the box is removed.
--   * Appends and saves lock the head of their box, and require that the box is not deleted. They write only to chains
--     of that box, which are not orphans.
--   * A reader sees the rows of its snapshot, even if gc removes them later.
--   * A new box with the id of a removed box gets a new chain.
--   * Only one gc runs at a time: the transaction of gc locks a row of lock_rows, which also works behind a pooler.
--     With the locks of the heads alone, two gcs would be correct too, but would wait for each other.
CREATE TABLE cardbox.card_box_orphans (
    tenant_id text COLLATE "C" NOT NULL,
    chain_id  uuid NOT NULL,
    due       boolean NOT NULL DEFAULT true, -- false: gc must first remove a chain that continues this chain
    PRIMARY KEY (tenant_id, chain_id)
);
CREATE INDEX card_box_orphans_due ON cardbox.card_box_orphans (tenant_id, chain_id) WHERE due;
SELECT cardbox.protect('cardbox.card_box_orphans', service => 'SELECT, INSERT, UPDATE, DELETE', worker => NULL);

-- The result of gc_batch() and gc_count(): numbers of removed or removable rows, and the bytes of their values.
CREATE TYPE cardbox.gc_totals AS (
    busy      boolean, -- true: another session runs gc, and nothing was removed
    more      boolean, -- true: rows may be left for later batches
    rows_left bigint,  -- number of rows that the batch may still remove
    cards     bigint, card_bytes     bigint,
    revisions bigint, revision_bytes bigint,
    boxes     bigint, box_bytes      bigint,
    changes   bigint, change_bytes   bigint, -- rows of card_box_log
    segments  bigint, segment_bytes  bigint,
    chains    bigint, chain_bytes    bigint,
    entries   bigint, entry_bytes    bigint
);

-- The rows of lock_rows are locked instead of advisory locks, which every role that may connect could hold. Only
-- try_lock_gc() and lock_ledger() lock these rows. So only one gc of the database runs at a time, and transactions that
-- save several tasks of a tenant run one after the other. Workers have no privileges on the table. Members of
-- cardbox_service may read the table, to report the session that holds a lock. A row lock ends with its transaction,
-- also behind a pooler in transaction mode, and when a client dies.
CREATE TABLE cardbox.lock_rows (
    tenant_id text COLLATE "C" NOT NULL, -- '': a lock of the whole database
    name      text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, name)
);
SELECT cardbox.protect('cardbox.lock_rows', service => 'SELECT', worker => NULL, writer => 'SELECT, INSERT, UPDATE');
INSERT INTO cardbox.lock_rows (tenant_id, name) VALUES ('', 'gc');
