-- Tables for gc (`cardbox gc`, and cardboxd in the background) and for locks. gc removes expired and deleted cards,
-- deleted boxes, and segments of boxes that nothing can read any more. Each batch has its own transaction.
-- needs: protect
--
-- Segments that are still needed. A chain belongs to the box for which it was created, by a creation, a fork or a save.
-- Its segments are read through the head of that box, through its log, and through chains of forks that continue it.
-- When a box is removed, its chains become orphans. The segments of an orphan are needed only below the largest
-- parent_length of the chains that continue it. If none continues it, no segment is needed. When an orphan is removed,
-- it continues no other chain any more. So its parent is examined again if the parent is an orphan.
--
-- Why gc is safe while others write. Only a fork could make an orphan's segments needed again: it reads its parent's
-- head, and its row in card_box_chains is invisible until it commits.
--   * A fork locks its parent's head FOR KEY SHARE until its transaction ends. Before gc makes orphans, it locks the
--     head of a deleted box FOR UPDATE, and skips a locked head. The two locks exclude each other.
--   * If the fork is first, gc leaves the box to a later batch. By then the fork has committed, and its chain is
--     visible, or it has failed. If gc is first, the fork waits, and then finds the box deleted.
--   * gc examines orphans with statements that begin after it has locked the head. Each has its own snapshot (READ
--     COMMITTED, which gc_batch checks). So they see all chains that continue an orphan. No new ones can appear,
--     because the box is gone.
--   * Appends and saves lock the head of their box, and require that it is not deleted. They write only to chains of
--     that box, which are not orphans.
--   * A reader sees the rows of its snapshot, even if they are removed later.
--   * A new box with the id of a removed one gets a new chain.
--   * Only one gc runs at a time: its transaction locks a row of lock_rows, which also works behind a pooler. The row
--     locks would be enough for two, but the two would wait for each other.
CREATE TABLE cardbox.card_box_orphans (
    tenant_id text COLLATE "C" NOT NULL,
    chain_id  uuid NOT NULL,
    due       boolean NOT NULL DEFAULT true, -- false: nothing can be removed until a chain that continues it is gone
    PRIMARY KEY (tenant_id, chain_id)
);
CREATE INDEX card_box_orphans_due ON cardbox.card_box_orphans (tenant_id, chain_id) WHERE due;
SELECT cardbox.protect('cardbox.card_box_orphans', service => 'SELECT, INSERT, UPDATE, DELETE', worker => NULL);

-- Totals of gc_batch() and gc_count(): removed rows, and the bytes of their values.
CREATE TYPE cardbox.gc_totals AS (
    busy      boolean, -- another session runs gc, and nothing was done
    more      boolean, -- more rows may be left
    rows_left bigint,  -- number of rows that the batch may still remove
    cards     bigint, card_bytes     bigint,
    revisions bigint, revision_bytes bigint,
    boxes     bigint, box_bytes      bigint,
    changes   bigint, change_bytes   bigint, -- rows of card_box_log
    segments  bigint, segment_bytes  bigint,
    chains    bigint, chain_bytes    bigint,
    entries   bigint, entry_bytes    bigint
);

-- Rows that are locked instead of advisory locks. Only one gc, and only one import of a project, runs at a time. Every
-- role that may connect could hold an advisory lock, but only try_lock_gc() and lock_ledger() lock these rows. Workers
-- have no privileges on the table. The service may read it, to report the session that holds a lock. A row lock ends
-- with its transaction, also behind a pooler in transaction mode, and when a client dies.
CREATE TABLE cardbox.lock_rows (
    tenant_id text COLLATE "C" NOT NULL, -- '': a lock of the whole database
    name      text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, name)
);
SELECT cardbox.protect('cardbox.lock_rows', service => 'SELECT', worker => NULL, writer => 'SELECT, INSERT, UPDATE');
INSERT INTO cardbox.lock_rows (tenant_id, name) VALUES ('', 'gc');
