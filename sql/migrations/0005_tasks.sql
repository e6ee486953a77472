-- The ledger: tasks, their messages and calls, the history of events, and the leases of workers.
--
-- needs: protect
-- needs: refuse_change
--
-- Times of type bigint are Unix milliseconds, as in the API. Texts of people and models are JSON strings in columns of
-- type json: they may contain \u0000 and half a surrogate pair, which the type text can't store. The column
-- completion_status has the type text, because lists filter by it.
--
-- A task is due from its wake_at on. If wake_at is NULL, the task is asleep or finished. A worker claims a task for a
-- limited time, the lease, and renews the lease while it runs the task. The column lease_epoch grows when a lease
-- begins or ends, and when the task is finished or cancelled. Each write of a worker for a task sends the lease_epoch
-- of the worker's claim. The write locks the row of the task, and fails if the task has another lease_epoch. So after
-- another worker's claim or a cancellation, writes of the earlier worker fail.
--
-- Autovacuum of the tables tasks and calls runs when a fiftieth of the rows is dead, because dead index entries slow
-- down the search for the next task.
CREATE TABLE cardbox.tasks (
    tenant_id         text COLLATE "C" NOT NULL CHECK (octet_length(tenant_id) BETWEEN 1 AND 255),
    task_id           text COLLATE "C" NOT NULL CHECK (octet_length(task_id) BETWEEN 1 AND 512),
    parent_task_id    text COLLATE "C" CHECK (parent_task_id <> task_id),
    completion_status text COLLATE "C" CHECK (octet_length(completion_status) BETWEEN 1 AND 1024), -- NULL: unfinished
    system_prompt     json NOT NULL CHECK (json_typeof(system_prompt) = 'string'),
    created_at        bigint NOT NULL,
    updated_at        bigint NOT NULL,
    cancel_reason     json,
    events            bigint NOT NULL DEFAULT 0, -- number of events, and n of the last one
    messages          bigint NOT NULL DEFAULT 0, -- number of messages
    last_user         bigint NOT NULL DEFAULT 0, -- seq of the last message with the role user; 0: none
    wake_at           timestamptz, -- when the task becomes due, or its lease ends; NULL: asleep or finished
    lease_owner       text COLLATE "C" CHECK (octet_length(lease_owner) BETWEEN 1 AND 255), -- NULL: not claimed
    lease_epoch       bigint NOT NULL DEFAULT 0, -- grows when a lease begins or ends, or the task is finished
    attempts          integer NOT NULL DEFAULT 0, -- claims since the task last slept, except released ones
    PRIMARY KEY (tenant_id, task_id),
    FOREIGN KEY (tenant_id, parent_task_id) REFERENCES cardbox.tasks,
    CHECK (completion_status IS NULL OR (wake_at IS NULL AND lease_owner IS NULL)),
    CHECK (lease_owner IS NULL OR wake_at IS NOT NULL)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX tasks_by_creation ON cardbox.tasks (tenant_id, created_at, task_id);
CREATE INDEX tasks_active ON cardbox.tasks (tenant_id, created_at, task_id) WHERE completion_status IS NULL;
CREATE INDEX tasks_by_status ON cardbox.tasks (tenant_id, completion_status, created_at, task_id)
    WHERE completion_status IS NOT NULL;
CREATE INDEX tasks_by_parent ON cardbox.tasks (tenant_id, parent_task_id, created_at, task_id)
    WHERE parent_task_id IS NOT NULL;
-- The index tasks_by_wake finds tasks that are due or whose lease has expired. Each renewal of a lease writes to this
-- index.
CREATE INDEX tasks_by_wake ON cardbox.tasks (tenant_id, wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX tasks_by_owner ON cardbox.tasks (tenant_id, lease_owner) WHERE lease_owner IS NOT NULL;

-- The messages of tasks. The content of a message is the sealed card with its message_id. Lists of messages are ordered
-- by ts, then seq. Models get the messages in the order of seq: in the order of ts, a client whose clock is ahead would
-- always have the last message. There is no foreign key to cards, because a sealed card without an expiry is never
-- changed or removed. With a foreign key, gc would search the table messages for each card that gc removes.
CREATE TABLE cardbox.messages (
    tenant_id  text COLLATE "C" NOT NULL,
    message_id text COLLATE "C" NOT NULL,
    task_id    text COLLATE "C" NOT NULL,
    role       text COLLATE "C" NOT NULL CHECK (role IN ('system', 'user', 'assistant')),
    ts         bigint NOT NULL,
    seq        bigint NOT NULL, -- n of the message's event
    PRIMARY KEY (tenant_id, message_id),
    FOREIGN KEY (tenant_id, task_id) REFERENCES cardbox.tasks
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
CREATE INDEX messages_by_time ON cardbox.messages (tenant_id, task_id, ts, seq);
CREATE INDEX messages_by_seq ON cardbox.messages (tenant_id, task_id, seq);
CREATE INDEX messages_of_user ON cardbox.messages (tenant_id, task_id, seq) WHERE role = 'user';
CREATE TRIGGER messages_sealed BEFORE UPDATE OR DELETE ON cardbox.messages
    FOR EACH ROW EXECUTE FUNCTION cardbox.refuse_change();

CREATE TABLE cardbox.calls (
    tenant_id        text COLLATE "C" NOT NULL,
    call_id          text COLLATE "C" NOT NULL CHECK (octet_length(call_id) BETWEEN 1 AND 512),
    task_id          text COLLATE "C" NOT NULL,
    ability_name     text COLLATE "C" NOT NULL CHECK (octet_length(ability_name) BETWEEN 1 AND 512),
    parameters       json NOT NULL CHECK (json_typeof(parameters) = 'string'),
    status           text COLLATE "C" NOT NULL
                     CHECK (status IN ('pending', 'in_progress', 'completed', 'failed')),
    details          json NOT NULL CHECK (json_typeof(details) = 'string'),
    created_at       bigint NOT NULL,
    updated_at       bigint NOT NULL,
    start_message_id text COLLATE "C" NOT NULL,
    end_message_id   text COLLATE "C",
    seq              bigint NOT NULL, -- n of the call's first event
    PRIMARY KEY (tenant_id, call_id),
    FOREIGN KEY (tenant_id, task_id) REFERENCES cardbox.tasks,
    FOREIGN KEY (tenant_id, start_message_id) REFERENCES cardbox.messages,
    FOREIGN KEY (tenant_id, end_message_id) REFERENCES cardbox.messages
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX calls_by_task ON cardbox.calls (tenant_id, task_id, created_at, seq);
CREATE INDEX calls_open ON cardbox.calls (tenant_id, task_id, created_at, seq)
    WHERE status IN ('pending', 'in_progress');

-- The events of a task, numbered by n. Task streams send the events, and can resume after any n. The transaction that
-- changes a task also writes the event, with the row of the task locked. So a reader of an event sees all earlier
-- events of the task.
CREATE TABLE cardbox.task_events (
    tenant_id text COLLATE "C" NOT NULL,
    task_id   text COLLATE "C" NOT NULL,
    n         bigint NOT NULL,
    what      text COLLATE "C" NOT NULL
              CHECK (what IN ('created', 'claimed', 'message', 'call', 'completed', 'reopened')),
    ref       text COLLATE "C", -- for message, call: its id; for created: the parent task
    how       text COLLATE "C", -- for claimed: the owner; for message: its role; for call, completed: the status
    at        bigint NOT NULL,
    PRIMARY KEY (tenant_id, task_id, n),
    FOREIGN KEY (tenant_id, task_id) REFERENCES cardbox.tasks
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
-- Events and messages never change. The group roles of CardBox have no privilege to change them, and triggers also
-- reject changes by the owner of the tables.
CREATE TRIGGER task_events_sealed BEFORE UPDATE OR DELETE ON cardbox.task_events
    FOR EACH ROW EXECUTE FUNCTION cardbox.refuse_change();

-- Chunks of a message while a model generates it. Chunks are not needed after the message is stored. So the table is
-- unlogged: it is empty after a crash and on standbys. The chunks of a task are deleted when the message is stored,
-- when the next message begins, and when a lease begins or ends.
CREATE UNLOGGED TABLE cardbox.task_chunks (
    tenant_id  text COLLATE "C" NOT NULL,
    task_id    text COLLATE "C" NOT NULL,
    -- The id under which the message is stored later.
    message_id text COLLATE "C" NOT NULL CHECK (octet_length(message_id) BETWEEN 1 AND 512),
    n          bigint NOT NULL,
    piece      json NOT NULL CHECK (json_typeof(piece) = 'string'),
    PRIMARY KEY (tenant_id, task_id, message_id, n)
);

-- The NOTIFY channels that wake workers. Every role that may connect to the database can listen on any channel, and no
-- privilege prevents that. So the names of channels are random, row-level security hides them, and notifications have
-- no payload. The roles of other tenants can observe only how full the queue of notifications is, which the whole
-- cluster shares.
CREATE TABLE cardbox.task_channels (
    tenant_id text COLLATE "C" NOT NULL PRIMARY KEY,
    channel   text NOT NULL DEFAULT 'cardbox_' || replace(gen_random_uuid()::text, '-', '')
);

-- The type of a row that claim_tasks() returns.
CREATE TYPE cardbox.claimed_task AS (
    tenant_id text, task_id text, epoch bigint, attempts integer, outcome integer, failed_calls integer,
    parent_task_id text
);

-- The type of a row that follow_tasks() returns. The column `what` is that of an event, or 'chunk' for a chunk of a
-- message, or 'more' if a limit may have cut the result.
CREATE TYPE cardbox.task_stream_row AS (
    ord bigint, n bigint, what text, ref text, how text, at bigint, text json, metadata jsonb, call json
);

-- Members of cardbox_service and of cardbox_worker write to the ledger only with functions.
SELECT cardbox.protect(t, service => 'SELECT', worker => 'SELECT', writer => 'SELECT, INSERT, UPDATE')
  FROM unnest(ARRAY['cardbox.tasks', 'cardbox.calls']::regclass[]) AS t;
SELECT cardbox.protect(t, service => 'SELECT', worker => 'SELECT', writer => 'SELECT, INSERT')
  FROM unnest(ARRAY['cardbox.messages', 'cardbox.task_events', 'cardbox.task_channels']::regclass[]) AS t;
SELECT cardbox.protect('cardbox.task_chunks', service => 'SELECT', worker => 'SELECT', writer => 'SELECT, INSERT, DELETE');
