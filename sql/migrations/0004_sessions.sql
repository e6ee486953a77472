-- Sessions: trees of entries. The line of an entry is a sealed card, its exact text in cards.content. The
-- rows here order and link them.
-- needs: protect
-- needs: drop_ring_entry
-- needs: refuse_session_of_remains
-- needs: begin_restoring
--
-- A path is a few ranges. Every entry lies on a branch: the first child of an entry continues its
-- parent's branch. Every other child, and every root, starts a branch, which is named by its own
-- seq. So a path from a root to an entry is one index range of (branch, depth) for each branch on
-- it. Leaves are the ends of branches, and branch points have starts of branches as children.
--
-- A line's position in the file is (seq, ord). seq counts headers and entries from 0, as version 1's
-- firstKeptEntryIndex does. ord is 0 for these, and counts the other lines behind them. Lines that
-- are no entries are stored as they were, and so are the bytes around an entry's JSON: a session is
-- exported to the byte, and an import of the same file compares and writes only what is new.
CREATE TABLE cardbox.sessions (
    tenant_id  text COLLATE "C" NOT NULL CHECK (octet_length(tenant_id) BETWEEN 1 AND 255),
    session_id text COLLATE "C" NOT NULL CHECK (octet_length(session_id) BETWEEN 1 AND 512),
    dialect    integer,         -- session_dialect in the C code; NULL: not known yet
    header     json,            -- pi's; the line itself is in session_lines
    name       json,            -- from the last session_info
    forked_from text COLLATE "C",
    head_seq   bigint,          -- the entry that an append continues; NULL: none
    last_seq   bigint NOT NULL, -- position of the last line; -1: none, or lines before the first entry
    last_ord   integer NOT NULL,
    open_end   boolean NOT NULL, -- the last line has no line feed
    has_rings  boolean NOT NULL DEFAULT false, -- session_lines has rows with a ring_id
    entries    bigint NOT NULL,
    version    bigint NOT NULL, -- grows by one with every change
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, session_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX sessions_by_time ON cardbox.sessions (tenant_id, created_at, session_id);

CREATE TABLE cardbox.session_entries (
    tenant_id  text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    seq        bigint NOT NULL,
    entry_id   text COLLATE "C" NOT NULL CHECK (octet_length(entry_id) BETWEEN 1 AND 512),
    parent_seq bigint,  -- NULL: a root
    missing    text COLLATE "C", -- of a root: the parent that it names and that was not found; '': no id
    depth      integer NOT NULL, -- number of entries above it
    branch     bigint NOT NULL,
    kind       integer NOT NULL, -- session_kind, and session_role times 256
    card_id    text COLLATE "C" NOT NULL,
    size       integer NOT NULL, -- bytes of the line's JSON
    before     bytea,   -- the bytes before it in its line
    after      bytea,   -- the bytes behind it; NULL: a line feed
    target     text COLLATE "C", -- of a label: the labelled entry; of an imported compaction: the first
                                 -- entry that it keeps ('': none before it)
    label      json,    -- of a label: its text; NULL removes the label
    session_key text COLLATE "C" GENERATED ALWAYS AS (session_id) STORED,
    PRIMARY KEY (tenant_id, session_id, seq),
    -- kind: the kinds and roles of src/model/session/entry.h. depth: statements add up to 2^30 to it.
    CONSTRAINT session_entries_limits
    CHECK (kind >= 0 AND kind % 256 < 16 AND kind / 256 < 7 AND depth BETWEEN 0 AND 1000000000)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
-- session_key duplicates session_id so that only one index matches each kind of query. PostgreSQL
-- has no statistics here: all indexes that begin with the same columns look equally good to it, and
-- it read whole sessions for single entries. Look-ups by id, branch or parent name session_key.
-- For the same reason one index has a condition that always holds, and one begins with session_id.
CREATE UNIQUE INDEX session_entries_by_id ON cardbox.session_entries (tenant_id, session_key, entry_id)
    WHERE entry_id IS NOT NULL;
CREATE INDEX session_entries_path ON cardbox.session_entries (tenant_id, branch, session_key, depth);
CREATE INDEX session_entries_starts ON cardbox.session_entries (tenant_id, session_key, parent_seq, seq)
    WHERE seq = branch;
CREATE INDEX session_entries_by_branch ON cardbox.session_entries (session_id, tenant_id, seq)
    WHERE seq = branch;
CREATE INDEX session_entries_waiting ON cardbox.session_entries (tenant_id, session_id, missing)
    WHERE missing IS NOT NULL;
CREATE INDEX session_entries_labels ON cardbox.session_entries (tenant_id, session_key, target, seq)
    WHERE target IS NOT NULL;
CREATE INDEX session_entries_cards ON cardbox.session_entries (tenant_id, card_id);

-- Lines that are no entries of the tree: headers, blank and bad lines, second lines with one id.
CREATE TABLE cardbox.session_lines (
    tenant_id  text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    seq        bigint NOT NULL,
    ord        integer NOT NULL,
    bytes      bytea NOT NULL, -- with the end of the line
    ring_id    text COLLATE "C", -- of an entry whose parents lead back to it: its id is taken
    PRIMARY KEY (tenant_id, session_id, seq, ord)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
CREATE INDEX session_lines_rings ON cardbox.session_lines (tenant_id, session_id, ring_id)
    WHERE ring_id IS NOT NULL;
CREATE TRIGGER session_lines_ring AFTER INSERT ON cardbox.session_lines
    FOR EACH ROW WHEN (NEW.ring_id IS NOT NULL) EXECUTE FUNCTION cardbox.drop_ring_entry();

-- Appends that had an idempotency key: a retry gets the first answer.
CREATE TABLE cardbox.session_keys (
    tenant_id  text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    append_key text COLLATE "C" NOT NULL,
    digest     bytea NOT NULL,
    version    bigint NOT NULL, -- after the change
    first_seq  bigint NOT NULL,
    PRIMARY KEY (tenant_id, session_id, append_key)
);

-- Deleted sessions whose entries and cards are not all removed yet. A long session is deleted in
-- parts, each a short transaction. The first part removes its row in sessions, so the session is
-- gone. Its deleter removes the other parts, or the collector if the deleter can't. Until all parts
-- are removed no session can be made under its id, because its lines and cards would collide. A row with
-- `restoring` marks a session that an import restores: nothing reads its lines before it is whole.
CREATE TABLE cardbox.session_remains (
    tenant_id  text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    restoring  boolean NOT NULL DEFAULT false, -- an import restores the session: its lines are not whole yet
    PRIMARY KEY (tenant_id, session_id)
);
CREATE TRIGGER session_remains_restoring AFTER INSERT ON cardbox.session_remains
    FOR EACH ROW WHEN (NEW.restoring) EXECUTE FUNCTION cardbox.begin_restoring();
-- After the insert, which waits for a deletion of the same id and so sees what that has left.
CREATE TRIGGER sessions_remains AFTER INSERT ON cardbox.sessions
    FOR EACH ROW EXECUTE FUNCTION cardbox.refuse_session_of_remains();

-- The columns are those that an import corrects: parents that stand behind their children, rings,
-- and a last line that was broken off.
SELECT cardbox.protect('cardbox.sessions', service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT, INSERT');
GRANT UPDATE (dialect, header, name, forked_from, head_seq, last_seq, last_ord, open_end, has_rings,
              entries, version, created_at, updated_at)
    ON cardbox.sessions TO cardbox_worker;
SELECT cardbox.protect('cardbox.session_entries', service => 'SELECT, INSERT, UPDATE, DELETE',
                       worker => 'SELECT, INSERT');
GRANT UPDATE (parent_seq, missing, depth, branch, after) ON cardbox.session_entries TO cardbox_worker;
SELECT cardbox.protect('cardbox.session_lines', service => 'SELECT, INSERT, UPDATE, DELETE',
                       worker => 'SELECT, INSERT');
GRANT UPDATE (bytes) ON cardbox.session_lines TO cardbox_worker;
SELECT cardbox.protect('cardbox.session_keys', service => 'SELECT, INSERT, UPDATE, DELETE',
                       worker => 'SELECT, INSERT');
SELECT cardbox.protect('cardbox.session_remains', service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT');
-- A worker may restore sessions of its tenants, and must not mark others as deleted.
GRANT INSERT (tenant_id, session_id, restoring), UPDATE (restoring) ON cardbox.session_remains TO cardbox_worker;
CREATE POLICY worker_inserts ON cardbox.session_remains AS RESTRICTIVE FOR INSERT TO cardbox_worker
    WITH CHECK (restoring);
CREATE POLICY worker_updates ON cardbox.session_remains AS RESTRICTIVE FOR UPDATE TO cardbox_worker
    USING (restoring) WITH CHECK (restoring);
