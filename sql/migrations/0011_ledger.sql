-- The ledger: tasks, the calls that they make, their messages, and what happened in which order.
-- Times are Unix milliseconds, as clients give them. Texts of people and models are kept as JSON string
-- tokens, in columns of type json: such a text may hold \u0000 and half a surrogate pair, which the type
-- text can't. (completion_status is a text all the same: it is looked for.)
CREATE TABLE cardbox.tasks (
    tenant_id         text COLLATE "C" NOT NULL CHECK (octet_length(tenant_id) BETWEEN 1 AND 255),
    task_id           text COLLATE "C" NOT NULL CHECK (octet_length(task_id) BETWEEN 1 AND 512),
    parent_task_id    text COLLATE "C" CHECK (parent_task_id <> task_id),
    completion_status text COLLATE "C" CHECK (octet_length(completion_status) BETWEEN 1 AND 1024), -- NULL: active
    system_prompt     json NOT NULL CHECK (json_typeof(system_prompt) = 'string'),
    created_at        bigint NOT NULL,
    updated_at        bigint NOT NULL,
    cancel_reason     json,
    events            bigint NOT NULL DEFAULT 0, -- number of its last event
    messages          bigint NOT NULL DEFAULT 0, -- how many it has
    last_user         bigint NOT NULL DEFAULT 0, -- event number of the last message of role user; 0: none
    wake_at           timestamptz, -- may be claimed from then on; while held, the lease's end; NULL: asleep
    lease_owner       text COLLATE "C" CHECK (octet_length(lease_owner) BETWEEN 1 AND 255), -- NULL: nobody
    lease_epoch       bigint NOT NULL DEFAULT 0, -- grows with every beginning and end of a lease
    attempts          integer NOT NULL DEFAULT 0, -- claims since a lease ended well
    PRIMARY KEY (tenant_id, task_id),
    FOREIGN KEY (tenant_id, parent_task_id) REFERENCES cardbox.tasks,
    CHECK (completion_status IS NULL OR (wake_at IS NULL AND lease_owner IS NULL)),
    CHECK (lease_owner IS NULL OR wake_at IS NOT NULL)
) WITH (fillfactor = 70);
CREATE INDEX tasks_by_creation ON cardbox.tasks (tenant_id, created_at, task_id);
CREATE INDEX tasks_active ON cardbox.tasks (tenant_id, created_at, task_id) WHERE completion_status IS NULL;
CREATE INDEX tasks_by_update ON cardbox.tasks (tenant_id, updated_at, task_id);
CREATE INDEX tasks_by_status ON cardbox.tasks (tenant_id, completion_status, created_at, task_id)
    WHERE completion_status IS NOT NULL;
CREATE INDEX tasks_by_parent ON cardbox.tasks (tenant_id, parent_task_id, created_at, task_id)
    WHERE parent_task_id IS NOT NULL;
CREATE INDEX tasks_by_wake ON cardbox.tasks (tenant_id, wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX tasks_by_owner ON cardbox.tasks (tenant_id, lease_owner) WHERE lease_owner IS NOT NULL;

-- A message is a sealed card; this row orders it, by ts and then by seq. No foreign key leads to the
-- card: a card that is sealed, alive and never to expire, which the trigger below wants, can't be changed,
-- deleted or collected, and a key would make each card that the collector removes look here.
CREATE TABLE cardbox.messages (
    tenant_id  text COLLATE "C" NOT NULL,
    message_id text COLLATE "C" NOT NULL,
    task_id    text COLLATE "C" NOT NULL,
    role       text COLLATE "C" NOT NULL CHECK (role IN ('system', 'user', 'assistant')),
    ts         bigint NOT NULL,
    seq        bigint NOT NULL, -- number of its event
    PRIMARY KEY (tenant_id, message_id),
    FOREIGN KEY (tenant_id, task_id) REFERENCES cardbox.tasks
);
CREATE INDEX messages_by_time ON cardbox.messages (tenant_id, task_id, ts, seq);
CREATE INDEX messages_of_user ON cardbox.messages (tenant_id, task_id, ts, seq) WHERE role = 'user';

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
    seq              bigint NOT NULL, -- number of its first event
    PRIMARY KEY (tenant_id, call_id),
    FOREIGN KEY (tenant_id, task_id) REFERENCES cardbox.tasks,
    FOREIGN KEY (tenant_id, start_message_id) REFERENCES cardbox.messages,
    FOREIGN KEY (tenant_id, end_message_id) REFERENCES cardbox.messages
);
CREATE INDEX calls_by_task ON cardbox.calls (tenant_id, task_id, created_at, seq);
CREATE INDEX calls_by_status ON cardbox.calls (tenant_id, status, created_at, call_id);
CREATE INDEX calls_open ON cardbox.calls (tenant_id, task_id, created_at, seq)
    WHERE status IN ('pending', 'in_progress');

-- The whole story of a task in order: what streams are made of, and can go on from. Written together with
-- what it tells of, while the task's row is locked: so who has seen a number has seen all up to it.
CREATE TABLE cardbox.task_events (
    tenant_id text COLLATE "C" NOT NULL,
    task_id   text COLLATE "C" NOT NULL,
    n         bigint NOT NULL,
    what      text COLLATE "C" NOT NULL
              CHECK (what IN ('created', 'claimed', 'message', 'call', 'completed', 'reopened')),
    ref       text COLLATE "C", -- of a message or a call: its id
    how       text COLLATE "C", -- claimed: by whom; message: role; call, completed: the status it got
    at        bigint NOT NULL,
    PRIMARY KEY (tenant_id, task_id, n),
    FOREIGN KEY (tenant_id, task_id) REFERENCES cardbox.tasks
);

CREATE FUNCTION cardbox.check_message() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM cardbox.cards c
                    WHERE c.tenant_id = NEW.tenant_id AND c.card_id = NEW.message_id
                      AND c.sealed AND c.expires_at IS NULL AND c.deleted_at IS NULL) THEN
        RAISE EXCEPTION 'message % needs a sealed card that never expires', NEW.message_id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER messages_checked BEFORE INSERT ON cardbox.messages
    FOR EACH ROW EXECUTE FUNCTION cardbox.check_message();

-- What was said and what has happened stays. The roles have no right to change it; this holds even
-- should they be given one.
CREATE FUNCTION cardbox.refuse_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% never change', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER messages_sealed BEFORE UPDATE OR DELETE ON cardbox.messages
    FOR EACH ROW EXECUTE FUNCTION cardbox.refuse_change();
CREATE TRIGGER task_events_sealed BEFORE UPDATE OR DELETE ON cardbox.task_events
    FOR EACH ROW EXECUTE FUNCTION cardbox.refuse_change();

CREATE FUNCTION cardbox.now_ms() RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- Gives the next event of a task its number. Locks the task's row, and so keeps events in order.
CREATE FUNCTION cardbox.add_event(tenant text, task text, what text, ref text, how text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    number bigint;
BEGIN
    UPDATE cardbox.tasks t
       SET events = t.events + 1,
           messages = t.messages + CASE WHEN add_event.what = 'message' THEN 1 ELSE 0 END,
           last_user = CASE WHEN add_event.what = 'message' AND add_event.how = 'user'
                            THEN t.events + 1 ELSE t.last_user END
     WHERE t.tenant_id = tenant AND t.task_id = task
    RETURNING t.events INTO number;
    INSERT INTO cardbox.task_events (tenant_id, task_id, n, what, ref, how, at)
    VALUES (tenant, task, number, add_event.what, add_event.ref, add_event.how, cardbox.now_ms());
    RETURN number;
END
$$;

-- Outcomes of what is saved:
--   1 inserted  2 unchanged  3 updated  4 it exists and says something else  5 no such task
--   6 no such message  7 it would undo what was finished
-- The numbers are those of enum ledger_outcome in the C code.

-- `moment` NULL: now. Content is what the card gets, `projection` what jsonb gets where it can't hold it.
CREATE FUNCTION cardbox.save_message(
    tenant text, id text, task text, role text, content json, projection jsonb, metadata jsonb,
    tool_calls jsonb, moment bigint)
RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    old record;
    ts  bigint := coalesce(moment, cardbox.now_ms());
BEGIN
    PERFORM FROM cardbox.tasks t
      WHERE t.tenant_id = tenant AND t.task_id = task FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 5;
    END IF;
    SELECT m.task_id, m.role, m.ts, c.raw INTO old
      FROM cardbox.messages m
      JOIN cardbox.cards c ON c.tenant_id = tenant AND c.card_id = id
     WHERE m.tenant_id = tenant AND m.message_id = id;
    IF FOUND THEN
        RETURN CASE WHEN old.task_id = task AND old.role = save_message.role
                     AND (moment IS NULL OR old.ts = moment)
                     AND cardbox.same_json(old.raw, content) THEN 2 ELSE 4 END;
    END IF;
    INSERT INTO cardbox.cards (tenant_id, card_id, content, raw, tool_calls, metadata, created_at, sealed)
    VALUES (tenant, id, coalesce(projection, content::jsonb), content, save_message.tool_calls,
            save_message.metadata, 'epoch'::timestamptz + ts * interval '1 millisecond', true)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN -- an import brings the card first
        PERFORM FROM cardbox.cards c
          WHERE c.tenant_id = tenant AND c.card_id = id AND c.sealed AND c.expires_at IS NULL
            AND c.deleted_at IS NULL AND cardbox.same_json(c.raw, save_message.content);
        IF NOT FOUND THEN
            RETURN 4;
        END IF;
    END IF;
    INSERT INTO cardbox.messages (tenant_id, message_id, task_id, role, ts, seq)
    VALUES (tenant, id, task, save_message.role, ts,
            cardbox.add_event(tenant, task, 'message', id, save_message.role))
    ON CONFLICT DO NOTHING;
    RETURN CASE WHEN FOUND THEN 1 ELSE 4 END; -- else another task got it at this moment
END
$$;

-- A call only goes on: from pending to in_progress to completed or failed, which is final. What is NULL
-- of details and end message stays as it is.
CREATE FUNCTION cardbox.save_call(tenant text, given jsonb, parameters json, details json)
RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    order_of CONSTANT jsonb := '{"pending": 1, "in_progress": 2, "completed": 3, "failed": 3}';
    id       text := given ->> 'id';
    task     text := given ->> 'task';
    updated  bigint := coalesce((given ->> 'updated')::bigint, cardbox.now_ms());
    old      cardbox.calls;
BEGIN
    PERFORM FROM cardbox.tasks t
      WHERE t.tenant_id = tenant AND t.task_id = task FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 5;
    END IF;
    IF EXISTS (SELECT FROM (VALUES (given ->> 'start'), (given ->> 'end')) AS w(id)
                WHERE w.id IS NOT NULL
                  AND NOT EXISTS (SELECT FROM cardbox.messages m
                                   WHERE m.tenant_id = tenant AND m.message_id = w.id)) THEN
        RETURN 6;
    END IF;
    INSERT INTO cardbox.calls (tenant_id, call_id, task_id, ability_name, parameters, status, details,
                               created_at, updated_at, start_message_id, end_message_id, seq)
    SELECT tenant, id, task, given ->> 'ability', save_call.parameters, given ->> 'status',
           coalesce(save_call.details, '"{}"'), coalesce((given ->> 'created')::bigint, updated),
           updated, given ->> 'start', given ->> 'end', t.events + 1
      FROM cardbox.tasks t WHERE t.tenant_id = tenant AND t.task_id = task
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM cardbox.add_event(tenant, task, 'call', id, given ->> 'status');
        RETURN 1;
    END IF;
    SELECT * INTO old FROM cardbox.calls c WHERE c.tenant_id = tenant AND c.call_id = id FOR NO KEY UPDATE;
    IF old.task_id <> task OR old.ability_name <> given ->> 'ability'
       OR NOT cardbox.same_json(old.parameters, save_call.parameters)
       OR old.start_message_id <> given ->> 'start'
       OR old.created_at <> coalesce((given ->> 'created')::bigint, old.created_at) THEN
        RETURN 4;
    END IF;
    IF (order_of -> (given ->> 'status'))::integer < (order_of -> old.status)::integer
       OR (old.status IN ('completed', 'failed') AND old.status <> given ->> 'status') THEN
        RETURN 7;
    END IF;
    IF old.status = given ->> 'status' AND updated <= old.updated_at
       AND coalesce(cardbox.same_json(old.details, save_call.details), true)
       AND old.end_message_id IS NOT DISTINCT FROM coalesce(given ->> 'end', old.end_message_id) THEN
        RETURN 2;
    END IF;
    UPDATE cardbox.calls c
       SET status = given ->> 'status', details = coalesce(save_call.details, c.details),
           updated_at = greatest(c.updated_at, updated),
           end_message_id = coalesce(given ->> 'end', c.end_message_id)
     WHERE c.tenant_id = tenant AND c.call_id = id;
    IF old.status <> given ->> 'status' THEN
        PERFORM cardbox.add_event(tenant, task, 'call', id, given ->> 'status');
    END IF;
    RETURN 3;
END
$$;

-- Ends a task whose row the caller has locked: no worker holds it any more, and what one of them still
-- wants to write carries an old epoch. A parent that sleeps, perhaps for this, may go on. Its row is
-- locked whether it sleeps or not: one that is about to sleep looks at its subtasks with its row locked,
-- and so either sees that this one is finished or sleeps before this looks.
CREATE FUNCTION cardbox.end_task(tenant text, task text, status text, moment bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    parent text;
BEGIN
    UPDATE cardbox.tasks t
       SET completion_status = status, updated_at = greatest(t.updated_at, moment), wake_at = NULL,
           lease_owner = NULL, lease_epoch = t.lease_epoch + 1
     WHERE t.tenant_id = tenant AND t.task_id = task
    RETURNING t.parent_task_id INTO parent;
    PERFORM cardbox.add_event(tenant, task, 'completed', NULL, status);
    IF parent IS NOT NULL THEN
        PERFORM FROM cardbox.tasks t
          WHERE t.tenant_id = tenant AND t.task_id = parent FOR NO KEY UPDATE;
        UPDATE cardbox.tasks t SET wake_at = clock_timestamp()
         WHERE t.tenant_id = tenant AND t.task_id = parent AND t.wake_at IS NULL
           AND t.completion_status IS NULL
           -- not one that was only written down here, and that nobody has ever run
           AND t.lease_epoch > 0;
    END IF;
END
$$;

-- Only the status and the time of a task change. A finished one is opened again, or gets another status,
-- only by who writes later than what it has; a cancelled one gets no other status.
CREATE FUNCTION cardbox.save_task(tenant text, given jsonb, prompt json) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    id      text := given ->> 'id';
    parent  text := given ->> 'parent';
    status  text := given ->> 'status';
    created bigint := (given ->> 'created')::bigint;
    updated bigint := (given ->> 'updated')::bigint;
    old     cardbox.tasks;
BEGIN
    IF parent IS NOT NULL AND NOT EXISTS (SELECT FROM cardbox.tasks t
                                           WHERE t.tenant_id = tenant AND t.task_id = parent) THEN
        RETURN 5;
    END IF;
    INSERT INTO cardbox.tasks (tenant_id, task_id, parent_task_id, completion_status, system_prompt,
                               created_at, updated_at)
    VALUES (tenant, id, parent, status, prompt, created, updated)
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM cardbox.add_event(tenant, id, 'created', parent, NULL);
        IF status IS NOT NULL THEN
            PERFORM cardbox.add_event(tenant, id, 'completed', NULL, status);
        END IF;
        RETURN 1;
    END IF;
    SELECT * INTO old FROM cardbox.tasks t WHERE t.tenant_id = tenant AND t.task_id = id FOR NO KEY UPDATE;
    IF old.parent_task_id IS DISTINCT FROM parent OR old.created_at <> created
       OR NOT cardbox.same_json(old.system_prompt, prompt) THEN
        RETURN 4;
    END IF;
    IF old.completion_status IS NOT DISTINCT FROM status THEN
        IF updated <= old.updated_at THEN
            RETURN 2;
        END IF;
        UPDATE cardbox.tasks t SET updated_at = updated WHERE t.tenant_id = tenant AND t.task_id = id;
    ELSIF old.completion_status IS NULL THEN
        PERFORM cardbox.end_task(tenant, id, status, updated);
    ELSIF updated <= old.updated_at OR (old.completion_status = 'cancelled' AND status IS NOT NULL) THEN
        RETURN 7;
    ELSE
        UPDATE cardbox.tasks t SET completion_status = status, updated_at = updated, cancel_reason = NULL
         WHERE t.tenant_id = tenant AND t.task_id = id;
        PERFORM cardbox.add_event(tenant, id, CASE WHEN status IS NULL THEN 'reopened' ELSE 'completed' END,
                                  NULL, status);
    END IF;
    RETURN 3;
END
$$;

-- Pieces of a message that a model is saying. Of use only while it does: so it is in no log, is gone after
-- a crash of PostgreSQL and is not on standbys.
CREATE UNLOGGED TABLE cardbox.task_chunks (
    tenant_id  text COLLATE "C" NOT NULL,
    task_id    text COLLATE "C" NOT NULL,
    message_id text COLLATE "C" NOT NULL, -- that the message will have
    n          bigint NOT NULL,
    piece      json NOT NULL CHECK (json_typeof(piece) = 'string'),
    PRIMARY KEY (tenant_id, task_id, message_id, n)
);

-- They go when the message is there, when the next message begins (that before it broke off), and when a
-- lease begins or ends. Workers have no right to delete: who
-- may delete in a table may also lock all of it (LOCK TABLE), and keep other tenants waiting. So this is
-- done in the owner's name, in triggers, which nobody can call: it follows what row-level security let pass.
CREATE FUNCTION cardbox.drop_chunks_of_message() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    DELETE FROM cardbox.task_chunks k
     WHERE k.tenant_id = NEW.tenant_id AND k.task_id = NEW.task_id AND k.message_id = NEW.message_id;
    RETURN NULL;
END
$$;
CREATE FUNCTION cardbox.drop_chunks_of_lease() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    DELETE FROM cardbox.task_chunks k WHERE k.tenant_id = NEW.tenant_id AND k.task_id = NEW.task_id;
    RETURN NULL;
END
$$;
CREATE FUNCTION cardbox.drop_other_chunks() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    -- two ranges, since an index does not find what is unequal
    DELETE FROM cardbox.task_chunks k
     WHERE k.tenant_id = NEW.tenant_id AND k.task_id = NEW.task_id AND k.message_id < NEW.message_id;
    DELETE FROM cardbox.task_chunks k
     WHERE k.tenant_id = NEW.tenant_id AND k.task_id = NEW.task_id AND k.message_id > NEW.message_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER chunks_begun AFTER INSERT ON cardbox.task_chunks
    FOR EACH ROW WHEN (NEW.n = 1) EXECUTE FUNCTION cardbox.drop_other_chunks();
CREATE TRIGGER messages_said AFTER INSERT ON cardbox.messages
    FOR EACH ROW EXECUTE FUNCTION cardbox.drop_chunks_of_message();
CREATE TRIGGER tasks_let_go AFTER UPDATE OF lease_epoch ON cardbox.tasks
    FOR EACH ROW WHEN (OLD.lease_epoch <> NEW.lease_epoch) EXECUTE FUNCTION cardbox.drop_chunks_of_lease();

-- What followers of tasks are given: an event; a piece ('chunk') of the message that is being said; or that
-- there is more than fits into this answer ('more').
CREATE TYPE cardbox.task_seen AS (
    ord bigint, n bigint, what text, ref text, how text, at bigint, text json, metadata jsonb, call json
);

-- What has happened since followers looked: of each up to `most` events and `most` pieces, and so much
-- that the last one begins before `page` bytes, and before all are `whole` bytes. Contents are read one by
-- one, so that what does not fit costs nothing. The details of a call are those of the status that it has
-- now: with an earlier one stands none.
CREATE FUNCTION cardbox.follow_tasks(
    tenants text[], tasks text[], known bigint[], messages text[], pieces bigint[],
    most bigint, page bigint, whole bigint)
RETURNS SETOF cardbox.task_seen
LANGUAGE plpgsql STABLE AS $$
DECLARE
    k      record;
    v      record;
    e      cardbox.task_seen;
    room  bigint;
    bytes  bigint;
    count  bigint;
    is_cut boolean;
BEGIN
    FOR k IN
        SELECT a.tenant_id, a.task_id, a.n, a.ord, s.message_id,
               CASE WHEN s.message_id = a.message_id THEN a.piece ELSE 0 END AS piece
          FROM unnest(tenants, tasks, known, messages, pieces) WITH ORDINALITY
               AS a(tenant_id, task_id, n, message_id, piece, ord)
          LEFT JOIN LATERAL (
               SELECT p.message_id, p.n FROM cardbox.task_chunks p
                WHERE p.tenant_id = a.tenant_id AND p.task_id = a.task_id
                ORDER BY p.message_id DESC, p.n DESC LIMIT 1) AS s ON true
         WHERE s.n > CASE WHEN s.message_id = a.message_id THEN a.piece ELSE 0 END
            OR EXISTS (SELECT FROM cardbox.task_events t
                        WHERE t.tenant_id = a.tenant_id AND t.task_id = a.task_id AND t.n > a.n)
    LOOP
        room := least(page, whole);
        bytes := 0;
        count := 0;
        is_cut := false;
        FOR v IN
            SELECT t.n, t.what, t.ref, t.how, t.at FROM cardbox.task_events t
             WHERE t.tenant_id = k.tenant_id AND t.task_id = k.task_id AND t.n > k.n
             ORDER BY t.n LIMIT most
        LOOP
            is_cut := bytes >= room;
            EXIT WHEN is_cut;
            e := (k.ord, v.n, v.what, v.ref, v.how, v.at, NULL, NULL, NULL);
            IF e.what = 'message' THEN
                SELECT m.ts, c.raw, c.metadata INTO e.at, e.text, e.metadata
                  FROM cardbox.messages m
                  JOIN cardbox.cards c ON c.tenant_id = k.tenant_id AND c.card_id = m.message_id
                 WHERE m.tenant_id = k.tenant_id AND m.message_id = v.ref;
            ELSIF e.what = 'call' THEN
                SELECT json_build_object('abilityName', c.ability_name, 'parameters', c.parameters, 'details',
                                         CASE WHEN c.status = v.how THEN c.details ELSE '"{}"' END)
                  INTO e.call FROM cardbox.calls c
                 WHERE c.tenant_id = k.tenant_id AND c.call_id = v.ref;
            ELSIF e.what = 'completed' AND e.how = 'cancelled' THEN
                SELECT t.cancel_reason INTO e.text FROM cardbox.tasks t
                 WHERE t.tenant_id = k.tenant_id AND t.task_id = k.task_id;
            END IF;
            bytes := bytes + 100 + coalesce(octet_length(e.text::text), 0)
                     + coalesce(octet_length(e.metadata::text), 0) + coalesce(octet_length(e.call::text), 0);
            count := count + 1;
            RETURN NEXT e;
        END LOOP;
        is_cut := is_cut OR count >= most;
        count := 0;
        IF NOT is_cut THEN -- else the message that these belong to may be among the events to come
            FOR v IN
                SELECT p.n, p.piece FROM cardbox.task_chunks p
                 WHERE p.tenant_id = k.tenant_id AND p.task_id = k.task_id
                   AND p.message_id = k.message_id AND p.n > k.piece
                 ORDER BY p.n LIMIT most
            LOOP
                is_cut := bytes >= room;
                EXIT WHEN is_cut;
                e := (k.ord, v.n, 'chunk', k.message_id, NULL, 0, v.piece, NULL, NULL);
                bytes := bytes + 100 + octet_length(e.text::text);
                count := count + 1;
                RETURN NEXT e;
            END LOOP;
        END IF;
        IF is_cut OR count >= most THEN
            e := (k.ord, 0, 'more', NULL, NULL, 0, NULL, NULL, NULL);
            RETURN NEXT e;
        END IF;
        whole := whole - bytes;
    END LOOP;
END
$$;

-- Saves tasks, messages and calls, in this order, all or none. Of each kind there is an array of objects
-- with what jsonb holds, and beside it the texts that only json holds. Gives the outcome of each up to the
-- first that stands in the way. A parent comes before its subtasks.
CREATE FUNCTION cardbox.save_ledger(
    tenant text, tasks jsonb, prompts json[], messages jsonb, contents json[], projections jsonb[],
    calls jsonb, parameters json[], details json[])
RETURNS TABLE (kind integer, ord integer, outcome integer)
LANGUAGE plpgsql AS $$
DECLARE
    kinds    integer[] := '{}';
    ords     integer[] := '{}';
    outcomes integer[] := '{}';
    one      record;
    done     integer;
    -- a batch that ends a task may say as well how its calls ended
    given_calls CONSTANT text[] := ARRAY(SELECT g.value ->> 'id' FROM jsonb_array_elements(save_ledger.calls) AS g);
BEGIN
    -- Always in the same order, so that two of these can't stop each other.
    PERFORM FROM cardbox.tasks t
      WHERE t.tenant_id = tenant
        AND t.task_id IN (SELECT g.value ->> 'task'
                            FROM jsonb_array_elements(save_ledger.messages || save_ledger.calls) AS g
                           UNION SELECT g.value ->> 'id' FROM jsonb_array_elements(save_ledger.tasks) AS g)
      ORDER BY t.task_id FOR NO KEY UPDATE;
    BEGIN
        FOR one IN
            SELECT 1 AS kind, g.place::integer AS place, g.value
              FROM jsonb_array_elements(save_ledger.tasks) WITH ORDINALITY AS g(value, place)
            UNION ALL
            SELECT 2, g.place::integer, g.value
              FROM jsonb_array_elements(save_ledger.messages) WITH ORDINALITY AS g(value, place)
            UNION ALL
            SELECT 3, g.place::integer, g.value
              FROM jsonb_array_elements(save_ledger.calls) WITH ORDINALITY AS g(value, place)
             ORDER BY 1, 2
        LOOP
            IF one.kind = 1 THEN
                IF one.value ->> 'status' IS NOT NULL THEN
                    PERFORM cardbox.fail_open_calls(tenant, one.value ->> 'id', 'Task ended', NULL, given_calls);
                END IF;
                done := cardbox.save_task(tenant, one.value, prompts[one.place]);
            ELSIF one.kind = 2 THEN
                done := cardbox.save_message(
                    tenant, one.value ->> 'id', one.value ->> 'task', one.value ->> 'role',
                    contents[one.place], projections[one.place], one.value -> 'metadata',
                    one.value -> 'tool_calls', (one.value ->> 'ts')::bigint);
            ELSE
                done := cardbox.save_call(tenant, one.value, parameters[one.place], details[one.place]);
            END IF;
            kinds := kinds || one.kind;
            ords := ords || one.place;
            outcomes := outcomes || done;
            IF done > 3 THEN
                RAISE EXCEPTION USING ERRCODE = 'CB001'; -- undoes this block; the outcomes survive
            END IF;
        END LOOP;
    EXCEPTION WHEN SQLSTATE 'CB001' THEN
        NULL;
    END;
    RETURN QUERY SELECT * FROM unnest(kinds, ords, outcomes);
END
$$;

DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['tasks', 'messages', 'calls', 'task_events', 'task_chunks'] LOOP
        EXECUTE format('ALTER TABLE cardbox.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE cardbox.%I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY service ON cardbox.%I TO cardbox_service
                        USING (true) WITH CHECK (true)', t);
        EXECUTE format('CREATE POLICY worker ON cardbox.%I TO cardbox_worker
                        USING (tenant_id IN (SELECT g.tenant_id FROM cardbox.tenant_grants g
                                              WHERE g.role_name = current_user))', t);
        EXECUTE format('GRANT SELECT, INSERT ON cardbox.%I TO cardbox_service, cardbox_worker', t);
    END LOOP;
END
$$;
-- What a task and a call began with stays, too.
GRANT UPDATE (completion_status, updated_at, cancel_reason, events, messages, last_user, wake_at,
              lease_owner, lease_epoch, attempts) ON cardbox.tasks TO cardbox_service, cardbox_worker;
GRANT UPDATE (status, details, updated_at, end_message_id)
    ON cardbox.calls TO cardbox_service, cardbox_worker;
GRANT DELETE ON cardbox.task_chunks TO cardbox_service;

REVOKE EXECUTE ON FUNCTION cardbox.drop_chunks_of_message, cardbox.drop_chunks_of_lease,
    cardbox.drop_other_chunks FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION cardbox.check_message, cardbox.refuse_change, cardbox.now_ms,
    cardbox.add_event, cardbox.save_message, cardbox.save_call, cardbox.end_task, cardbox.save_task,
    cardbox.save_ledger, cardbox.follow_tasks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.check_message, cardbox.refuse_change, cardbox.now_ms,
    cardbox.add_event, cardbox.save_message, cardbox.save_call, cardbox.end_task, cardbox.save_task,
    cardbox.save_ledger, cardbox.follow_tasks TO cardbox_service, cardbox_worker;
