-- Sessions: numbered lists of lines. An entry is a line that has an id; the entries form one or more trees.
--
-- needs: protect
--
-- Each entry is on a branch. One child of an entry continues the branch of the entry. Every other child, and every
-- root, starts a branch, and its line number is the number of the branch. So a path from a root to an entry is one
-- index range of (branch, depth) for each branch on the path. A leaf is the last entry of a branch. A branch point is
-- an entry with a child that starts a branch.
--
-- Every byte of an imported file belongs to a line, so that an export can equal the file. If the same file is imported
-- again, its lines are compared with the stored lines, and only new lines are written.
CREATE TABLE cardbox.sessions (
    tenant_id     text COLLATE "C" NOT NULL CHECK (octet_length(tenant_id) BETWEEN 1 AND 255),
    session_id    text COLLATE "C" NOT NULL CHECK (octet_length(session_id) BETWEEN 1 AND 512),
    -- The state `restoring`: the import of a project has not completed the session. The state `deleted`: the
    -- lines of the session are being removed. Only sessions in the state `live` are visible.
    state         text COLLATE "C" NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'restoring', 'deleted')),
    dialect       text COLLATE "C" CHECK (dialect IN ('plain', 'pi')), -- NULL: unknown
    header        json,            -- NULL in the dialect plain; session_lines has the whole line of the header
    name          json,            -- the last name that an entry of type session_info has set
    forked_from   text COLLATE "C",
    -- The head, which is by default the parent of the next entry. The columns head_* are NULL if there is no head.
    head_line     bigint,
    head_entry_id text COLLATE "C",
    head_branch   bigint,
    head_depth    integer,
    head_is_leaf  boolean,
    lines         bigint NOT NULL DEFAULT 0, -- number of lines, which is also the number of the next line
    entries       bigint NOT NULL DEFAULT 0,
    open_end      boolean NOT NULL DEFAULT false, -- true: the last line lacks a line feed at its end
    version       bigint NOT NULL, -- grows with each change of the session
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, session_id),
    CHECK (version >= 0 AND lines >= 0 AND entries >= 0 AND head_depth >= 0)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX sessions_by_time ON cardbox.sessions (tenant_id, created_at, session_id);
CREATE INDEX sessions_deleted ON cardbox.sessions (tenant_id, session_id) WHERE state = 'deleted';

-- The lines of sessions. The table has no CHECK constraints, which would cost 7 % of the time of an append. The
-- functions that write to the table check the values.
CREATE TABLE cardbox.session_lines (
    tenant_id   text COLLATE "C" NOT NULL,
    session_id  text COLLATE "C" NOT NULL,
    line        bigint NOT NULL,  -- counted from 0
    parent_line bigint,           -- NULL: a root, or not an entry
    -- If a line is not an entry, branch, depth and the columns from entry_id to content are NULL.
    branch      bigint,
    depth       integer,          -- number of ancestors of the entry
    size        integer NOT NULL, -- bytes of content, or of the line if it is not an entry
    id_is_made  boolean NOT NULL DEFAULT false, -- true: the JSON of the entry lacks an id
    -- True: the JSON of the entry contains a line number instead of the id of the target.
    target_is_made boolean NOT NULL DEFAULT false,
    entry_id    text COLLATE "C",
    -- The parentId of a root whose parent is missing or is a descendant of the root; '': the parentId is not an id.
    missing_parent_id text COLLATE "C",
    type        text COLLATE "C", -- 'other': an unknown type
    role        text COLLATE "C", -- user, assistant, tool or system; NULL: no role
    sets        text COLLATE "C", -- the setting that the entry changes: model or thinking
    target      text COLLATE "C", -- in a label: the labelled entry; in a compaction: the first kept entry
    label       json,             -- in a label: the text, NULL: removed; in a session_info: the name
    content     json COMPRESSION lz4, -- the exact JSON of an entry
    bytes       bytea,            -- all bytes of a line that is not an entry
    before      bytea,            -- bytes of the line before content; NULL: none
    after       bytea,            -- bytes of the line after content; NULL: a line feed
    PRIMARY KEY (tenant_id, session_id, line)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
CREATE UNIQUE INDEX session_lines_by_id ON cardbox.session_lines (tenant_id, session_id, entry_id);
CREATE INDEX session_lines_path ON cardbox.session_lines (tenant_id, session_id, branch, depth);
-- The index session_lines_starts has the first entry of each branch. Queries for roots, branch points and children use
-- it.
CREATE INDEX session_lines_starts ON cardbox.session_lines (tenant_id, session_id, parent_line, line)
    WHERE line = branch;
CREATE INDEX session_lines_labels ON cardbox.session_lines (tenant_id, session_id, target, line)
    WHERE type = 'label';

-- The appends to sessions that had an idempotency key. If a request with a key is repeated, nothing is appended, and
-- the answer has the version of the first append.
CREATE TABLE cardbox.session_append_keys (
    tenant_id  text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    append_key text COLLATE "C" NOT NULL CHECK (octet_length(append_key) BETWEEN 1 AND 512),
    digest     bytea NOT NULL,
    version    bigint NOT NULL, -- the session's version after the append
    PRIMARY KEY (tenant_id, session_id, append_key)
);

SELECT cardbox.protect('cardbox.sessions', service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT',
                       writer => 'SELECT, INSERT, UPDATE');
SELECT cardbox.protect('cardbox.session_lines', service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT',
                       writer => 'SELECT, INSERT, UPDATE, DELETE');
SELECT cardbox.protect('cardbox.session_append_keys', service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT',
                       writer => 'SELECT, INSERT');
