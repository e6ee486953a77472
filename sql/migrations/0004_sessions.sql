-- Sessions: numbered lists of lines. An entry is a line that has an id; entries form a tree.
-- needs: protect
--
-- A path is a few ranges. Every entry lies on a branch: one child of an entry continues its
-- parent's branch. Every other child, and every root, starts a branch, which is named by its own
-- line. So a path from a root to an entry is one index range of (branch, depth) for each branch on
-- it. Leaves are the ends of branches, and branch points have starts of branches as children.
--
-- Every byte of an imported file belongs to a line, so that a session is exported to the byte, and
-- an import of the same file compares the lines and writes only the new ones.
CREATE TABLE cardbox.sessions (
    tenant_id     text COLLATE "C" NOT NULL CHECK (octet_length(tenant_id) BETWEEN 1 AND 255),
    session_id    text COLLATE "C" NOT NULL CHECK (octet_length(session_id) BETWEEN 1 AND 512),
    -- restoring: a project's import has not completed it; deleted: its lines are being removed.
    -- Only live sessions are visible.
    state         text COLLATE "C" NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'restoring', 'deleted')),
    dialect       text COLLATE "C" CHECK (dialect IN ('plain', 'pi')), -- NULL: not known yet
    header        json,            -- pi's; the line itself is in session_lines
    name          json,            -- from the last session_info
    forked_from   text COLLATE "C",
    -- The entry that an append continues, and its columns; NULL: none.
    head_line     bigint,
    head_entry_id text COLLATE "C",
    head_branch   bigint,
    head_depth    integer,
    head_is_leaf  boolean,
    lines         bigint NOT NULL DEFAULT 0, -- the number of the next line
    entries       bigint NOT NULL DEFAULT 0,
    open_end      boolean NOT NULL DEFAULT false, -- the last line has no line feed
    version       bigint NOT NULL, -- grows by one with every change
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, session_id),
    CHECK (version >= 0 AND lines >= 0 AND entries >= 0 AND head_depth >= 0)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX sessions_by_time ON cardbox.sessions (tenant_id, created_at, session_id);
CREATE INDEX sessions_deleted ON cardbox.sessions (tenant_id, session_id) WHERE state = 'deleted';

-- No CHECK constraints: they cost 7 % of an append. The writing functions check what they are given.
CREATE TABLE cardbox.session_lines (
    tenant_id   text COLLATE "C" NOT NULL,
    session_id  text COLLATE "C" NOT NULL,
    line        bigint NOT NULL,  -- from 0
    parent_line bigint,           -- NULL: a root
    branch      bigint,           -- the columns to target are NULL where the line is no entry
    depth       integer,          -- number of entries above it
    size        integer NOT NULL, -- bytes of content; of a line that is no entry, of the line
    id_is_made  boolean NOT NULL DEFAULT false, -- the line has no id of its own
    target_is_made boolean NOT NULL DEFAULT false, -- the line names target by an index
    entry_id    text COLLATE "C",
    missing_parent_id text COLLATE "C", -- of a root: the parent that it names, which is missing, or which
                                  -- would make it its own ancestor; '': parentId is not an id
    type        text COLLATE "C", -- other: a type that is not known
    role        text COLLATE "C", -- user, assistant, tool, system; NULL: none
    sets        text COLLATE "C", -- model, thinking: the setting that the entry changes
    target      text COLLATE "C", -- of a label the labelled entry, of a compaction the first kept entry
    label       json,             -- of a label its text (NULL removes the label), of a session_info the name
    content     json COMPRESSION lz4, -- of an entry: its JSON, exactly
    bytes       bytea,            -- of a line that is no entry: all of it
    before      bytea,            -- the bytes before content; NULL: none
    after       bytea,            -- the bytes behind it; NULL: a line feed
    PRIMARY KEY (tenant_id, session_id, line)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
CREATE UNIQUE INDEX session_lines_by_id ON cardbox.session_lines (tenant_id, session_id, entry_id);
CREATE INDEX session_lines_path ON cardbox.session_lines (tenant_id, session_id, branch, depth);
-- Starts of branches: later children, roots and branch points.
CREATE INDEX session_lines_starts ON cardbox.session_lines (tenant_id, session_id, parent_line, line)
    WHERE line = branch;
CREATE INDEX session_lines_labels ON cardbox.session_lines (tenant_id, session_id, target, line)
    WHERE type = 'label';

-- Appends that had an idempotency key: a retry gets the first answer.
CREATE TABLE cardbox.session_append_keys (
    tenant_id  text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    append_key text COLLATE "C" NOT NULL CHECK (octet_length(append_key) BETWEEN 1 AND 512),
    digest     bytea NOT NULL,
    version    bigint NOT NULL, -- after the append
    PRIMARY KEY (tenant_id, session_id, append_key)
);

SELECT cardbox.protect(t, service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT', writer => 'SELECT, INSERT, UPDATE')
  FROM unnest(ARRAY['cardbox.sessions', 'cardbox.session_lines']::regclass[]) AS t;
SELECT cardbox.protect('cardbox.session_append_keys', service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT',
                       writer => 'SELECT, INSERT');
