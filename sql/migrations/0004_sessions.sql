-- Sessions: numbered lists of lines. An entry is a line that has an id; entries form a tree.
-- needs: protect
--
-- Each entry is on a branch. One child of an entry continues its parent's branch. Every other child, and every root,
-- starts a branch, and its line number is the branch's number. So a path from a root to an entry is one index range of
-- (branch, depth) for each branch. Leaves are the ends of branches. A branch point has a child that starts a branch.
--
-- Every byte of an imported file belongs to a line, so that an export equals the file. An import of the same file
-- compares the lines, and writes only the new ones.
CREATE TABLE cardbox.sessions (
    tenant_id     text COLLATE "C" NOT NULL CHECK (octet_length(tenant_id) BETWEEN 1 AND 255),
    session_id    text COLLATE "C" NOT NULL CHECK (octet_length(session_id) BETWEEN 1 AND 512),
    -- restoring: an import of a project has not completed the session. deleted: its lines are being removed.
    -- Only live sessions are visible.
    state         text COLLATE "C" NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'restoring', 'deleted')),
    dialect       text COLLATE "C" CHECK (dialect IN ('plain', 'pi')), -- NULL: not known yet
    header        json,            -- dialect pi; session_lines has the whole line
    name          json,            -- from the last session_info
    forked_from   text COLLATE "C",
    -- The entry that an append continues, with its columns; NULL: none.
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

-- The table has no CHECK constraints, which would cost 7 % of an append. The writing functions check all values.
CREATE TABLE cardbox.session_lines (
    tenant_id   text COLLATE "C" NOT NULL,
    session_id  text COLLATE "C" NOT NULL,
    line        bigint NOT NULL,  -- from 0
    parent_line bigint,           -- NULL: a root
    branch      bigint,           -- NULL, like the columns down to content, if the line is not an entry
    depth       integer,          -- number of ancestors
    size        integer NOT NULL, -- bytes of content; if the line is not an entry, bytes of the line
    id_is_made  boolean NOT NULL DEFAULT false, -- the JSON has no id
    target_is_made boolean NOT NULL DEFAULT false, -- the JSON has a line number instead of the target's id
    entry_id    text COLLATE "C",
    missing_parent_id text COLLATE "C", -- root: its parentId, if the parent is missing or is its own descendant;
                                  -- '': parentId is not an id
    type        text COLLATE "C", -- other: an unknown type
    role        text COLLATE "C", -- user, assistant, tool, system; NULL: none
    sets        text COLLATE "C", -- the setting that the entry changes: model, thinking
    target      text COLLATE "C", -- label: the labelled entry; compaction: the first kept entry
    label       json,             -- label: its text, NULL removes the label; session_info: the name
    content     json COMPRESSION lz4, -- entry: its exact JSON
    bytes       bytea,            -- line that is not an entry: all of it
    before      bytea,            -- the bytes before content; NULL: none
    after       bytea,            -- the bytes after content; NULL: a line feed
    PRIMARY KEY (tenant_id, session_id, line)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
CREATE UNIQUE INDEX session_lines_by_id ON cardbox.session_lines (tenant_id, session_id, entry_id);
CREATE INDEX session_lines_path ON cardbox.session_lines (tenant_id, session_id, branch, depth);
-- Starts of branches, for children, roots and branch points.
CREATE INDEX session_lines_starts ON cardbox.session_lines (tenant_id, session_id, parent_line, line)
    WHERE line = branch;
CREATE INDEX session_lines_labels ON cardbox.session_lines (tenant_id, session_id, target, line)
    WHERE type = 'label';

-- Appends with an idempotency key, so that a repeated request gets the first answer.
CREATE TABLE cardbox.session_append_keys (
    tenant_id  text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    append_key text COLLATE "C" NOT NULL CHECK (octet_length(append_key) BETWEEN 1 AND 512),
    digest     bytea NOT NULL,
    version    bigint NOT NULL, -- after the append
    PRIMARY KEY (tenant_id, session_id, append_key)
);

SELECT cardbox.protect('cardbox.sessions', service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT',
                       writer => 'SELECT, INSERT, UPDATE');
SELECT cardbox.protect('cardbox.session_lines', service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT',
                       writer => 'SELECT, INSERT, UPDATE, DELETE');
SELECT cardbox.protect('cardbox.session_append_keys', service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT',
                       writer => 'SELECT, INSERT');
