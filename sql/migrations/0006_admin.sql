-- What the collector (`cardbox gc`, and cardboxd in the background) needs beside the tables. It
-- removes cards that have expired or were deleted, boxes that were deleted, and pieces of boxes that
-- nothing can read any more: in batches, each in a transaction of its own.
-- needs: protect
--
-- Which segments can be read. A chain belongs to one box: the box that it was made for, by its
-- creation, a fork or a save. Its segments are read through that box's head, through that box's log,
-- and through chains that continue it, which are those of forks. When a box is removed its chains
-- become orphans. Of an orphan only the part below the largest parent_length of its continuations is
-- needed; without continuations nothing is. When an orphan is removed it continues no other chain,
-- so its parent is examined again if that is an orphan.
--
-- Why that is safe while others write. Only a fork could make a dead chain needed again: it reads the
-- parent's head, and its row in card_box_chains is invisible until it commits.
--   * fork_box locks the parent's head FOR KEY SHARE until its transaction ends. The collector locks
--     a dead box's head FOR UPDATE before it makes orphans, and skips a head that is locked. The two
--     locks exclude each other.
--   * If the fork was first, the box is left for a later batch. By then the fork's chain is visible
--     or will never be. If the collector was first, the fork waits and finds the box deleted.
--   * Orphans are examined by statements that begin after that lock was taken, each with a snapshot
--     of its own (READ COMMITTED, which gc_batch() checks). So they see every continuation, and no
--     new one can appear, since the box is gone.
--   * Appends and saves lock their box's head, and require that it is not deleted. They write to
--     chains of that box only, which are no orphans while it lives.
--   * Readers see what their snapshot has, removed since or not.
--   * A box may be made again under the id of a removed one: its chain is a new one.
--   * One collector works at a time: its transaction locks a row of lock_rows, which also works behind
--     a pooler. With two the row locks alone would be enough, but the two would wait.
CREATE TABLE cardbox.card_box_orphans (
    tenant_id text COLLATE "C" NOT NULL,
    chain_id  uuid NOT NULL,
    due       boolean NOT NULL DEFAULT true, -- false: nothing to do until a continuation is removed
    PRIMARY KEY (tenant_id, chain_id)
);
CREATE INDEX card_box_orphans_due ON cardbox.card_box_orphans (tenant_id, chain_id) WHERE due;
SELECT cardbox.protect('cardbox.card_box_orphans', service => 'SELECT, INSERT, UPDATE, DELETE', worker => NULL);

-- What a batch has removed so far: rows, and the bytes of their values.
CREATE TYPE cardbox.gc_totals AS (
    busy     boolean, -- another collector is at work: nothing was done
    more     boolean, -- there may be more
    room     bigint,  -- rows that the batch may still remove
    cards    bigint, card_bytes     bigint,
    revisions bigint, revision_bytes bigint,
    boxes    bigint, box_bytes      bigint,
    changes  bigint, change_bytes   bigint, -- rows of the boxes' logs
    segments bigint, segment_bytes  bigint,
    chains   bigint, chain_bytes    bigint
);

-- gc and imports of one project run one at a time, each while it has the lock of a row here. Any role that
-- may connect can hold an advisory lock; only try_lock_gc() and lock_ledger() lock these rows. Workers have
-- no right to the table, and the service may only read it, to name the session that holds a lock. A row's
-- lock ends with its transaction: also behind a pooler in transaction mode, and when a client dies.
CREATE TABLE cardbox.lock_rows (
    tenant_id text COLLATE "C" NOT NULL, -- '': the lock is of the whole database
    name      text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, name)
);
SELECT cardbox.protect('cardbox.lock_rows', service => 'SELECT', worker => NULL, writer => 'SELECT, INSERT, UPDATE');
INSERT INTO cardbox.lock_rows (tenant_id, name) VALUES ('', 'gc');
