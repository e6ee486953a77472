-- The task manager: who runs which task. A task is runnable from wake_at on, unless that is NULL. A worker
-- claims it for a while, its lease, and renews that while it runs.
--
-- Fencing. lease_epoch grows when a lease begins, when it ends in whatever way, and when the task is
-- finished or cancelled. Each write of a worker carries the epoch that its claim gave, and is done only if
-- the task still has it, in the same statement and with the task's row locked: so after a claim by
-- another, or a cancel, nothing of the old one can land.
--
-- Outcomes: those of save_ledger, and
--   8 the lease is lost: the epoch is another one, or the task is finished
--   9 the task is finished
--  10 not ended, since there is a newer message of a user: the turn after this has to answer it
--  11 it sleeps
--  12 it had been claimed as often as allowed, and has failed

-- Names under which workers hear of work (LISTEN). Whoever may connect to the database may listen on any
-- name, and there is no right that could be taken from them: so a name is random, and is kept behind
-- row-level security. The message itself is empty. What another tenant can learn is how full the queue
-- of notifications is, which is one for the whole cluster.
CREATE TABLE cardbox.task_channels (
    tenant_id text COLLATE "C" NOT NULL PRIMARY KEY,
    channel   text NOT NULL DEFAULT 'cardbox_' || replace(gen_random_uuid()::text, '-', '')
);

-- Wakes the workers that wait for tasks of these tenants. Not part of what makes a task runnable: a commit
-- that notifies takes a lock of the whole cluster, so it is done apart, once for much work.
CREATE FUNCTION cardbox.notify_workers(tenants text[]) RETURNS void
LANGUAGE sql VOLATILE AS $$
    SELECT pg_notify(c.channel, '') FROM cardbox.task_channels c WHERE c.tenant_id = ANY (tenants)
$$;

-- The tenants that a worker's role was granted; for the service, those that have something to wait for.
CREATE FUNCTION cardbox.served_tenants() RETURNS text[]
LANGUAGE plpgsql VOLATILE AS $$ -- not STABLE: the planner would run it for its estimates
BEGIN
    IF NOT pg_has_role(current_user, 'cardbox_service', 'MEMBER') THEN
        RETURN ARRAY(SELECT g.tenant_id FROM cardbox.tenant_grants g);
    END IF;
    -- from one tenant to the next in the index, however many tasks each has
    RETURN ARRAY(
        WITH RECURSIVE due AS (
            (SELECT t.tenant_id FROM cardbox.tasks t WHERE t.wake_at IS NOT NULL
              ORDER BY t.tenant_id LIMIT 1)
            UNION ALL
            SELECT (SELECT t.tenant_id FROM cardbox.tasks t
                     WHERE t.wake_at IS NOT NULL AND t.tenant_id > d.tenant_id
                     ORDER BY t.tenant_id LIMIT 1)
              FROM due d WHERE d.tenant_id IS NOT NULL)
        SELECT d.tenant_id FROM due d WHERE d.tenant_id IS NOT NULL);
END
$$;

-- Listens for work of these tenants; NULL: of all that have a name already.
CREATE FUNCTION cardbox.listen_for_tasks(tenants text[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    name  text;
    count bigint := 0;
BEGIN
    INSERT INTO cardbox.task_channels (tenant_id)
    SELECT DISTINCT n.id FROM unnest(coalesce(tenants, cardbox.served_tenants())) AS n(id)
    ON CONFLICT DO NOTHING;
    FOR name IN SELECT c.channel FROM cardbox.task_channels c
                 WHERE tenants IS NULL OR c.tenant_id = ANY (tenants) LOOP
        EXECUTE format('LISTEN %I', name);
        count := count + 1;
    END LOOP;
    RETURN count;
END
$$;

-- What a worker must know of a task that it has claimed.
CREATE TYPE cardbox.claimed_task AS (
    tenant_id text, task_id text, epoch bigint, attempts integer, outcome integer, failed_calls integer,
    parent_task_id text
);

-- Ends the calls that a task left open, before somebody goes on with it or when it ends. A call
-- that was in progress may have done its work or not: it is never run again by itself, the model decides.
-- One that was still pending was not begun, but ends in the same way: then there is one rule, and
-- nothing depends on how far the list of calls of a dead worker had come. With a message (`say`) that is
-- the call's end. Not those of `but`.
CREATE FUNCTION cardbox.fail_open_calls(
    tenant text, task text, error text, say text, but text[] DEFAULT '{}')
RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    call    record;
    message text;
    content json;
    count   integer := 0;
BEGIN
    FOR call IN
        SELECT c.call_id, c.ability_name FROM cardbox.calls c
         WHERE c.tenant_id = tenant AND c.task_id = task AND c.status IN ('pending', 'in_progress')
           AND c.call_id <> ALL (but)
         ORDER BY c.created_at, c.seq FOR NO KEY UPDATE
    LOOP
        message := NULL;
        IF say IS NOT NULL THEN
            message := gen_random_uuid()::text;
            content := format('{"__type__":"TextContent","text":%s}',
                              to_json(format(say, call.ability_name)))::json;
            PERFORM cardbox.save_message(
                tenant, message, task, 'assistant', content, NULL,
                jsonb_build_object('type', 'agent.thought', 'role', 'assistant', 'task_id', task,
                                   'call_id', call.call_id), NULL, NULL);
        END IF;
        UPDATE cardbox.calls c
           SET status = 'failed', updated_at = greatest(c.updated_at, cardbox.now_ms()),
               details = to_json(format('{"error":%s}', to_json(error))),
               end_message_id = coalesce(message, c.end_message_id)
         WHERE c.tenant_id = tenant AND c.call_id = call.call_id;
        PERFORM cardbox.add_event(tenant, task, 'call', call.call_id, 'failed');
        count := count + 1;
    END LOOP;
    RETURN count;
END
$$;

-- Gives one task to a worker. The caller has locked its row.
CREATE FUNCTION cardbox.take_task(
    task cardbox.tasks, owner text, lease_ms bigint, most_attempts integer)
RETURNS cardbox.claimed_task
LANGUAGE plpgsql AS $$
DECLARE
    claimed cardbox.claimed_task;
BEGIN
    claimed := (task.tenant_id, task.task_id, task.lease_epoch + 1, task.attempts + 1, 1, 0,
                task.parent_task_id);
    claimed.failed_calls := cardbox.fail_open_calls(
        task.tenant_id, task.task_id, 'Process crashed during execution', '%s failed due to process crash');
    IF task.attempts >= most_attempts THEN
        claimed.outcome := 12;
        PERFORM cardbox.end_task(
            task.tenant_id, task.task_id,
            format('failed: No worker finished a turn of it in %s attempts', task.attempts),
            cardbox.now_ms());
        RETURN claimed;
    END IF;
    UPDATE cardbox.tasks t
       SET lease_owner = owner, lease_epoch = claimed.epoch, attempts = claimed.attempts,
           wake_at = clock_timestamp() + lease_ms * interval '1 millisecond'
     WHERE t.tenant_id = task.tenant_id AND t.task_id = task.task_id;
    PERFORM cardbox.add_event(task.tenant_id, task.task_id, 'claimed', NULL, owner);
    RETURN claimed;
END
$$;

-- Claims up to `most` tasks that are due, of each tenant its share and then what is left, so that one with
-- much work does not starve the others. `tenants` NULL: of all that the role may serve. `take_over`: also those that
-- this owner holds already, which is for a worker that was started again, before it runs anything.
CREATE FUNCTION cardbox.claim_tasks(
    tenants text[], owner text, lease_ms bigint, most integer, most_attempts integer, take_over boolean)
RETURNS SETOF cardbox.claimed_task
LANGUAGE plpgsql AS $$
DECLARE
    moment CONSTANT timestamptz := clock_timestamp();
    served text[];
    share  integer;
    tenant text;
    task   cardbox.tasks;
    room   integer := most;
    claimed cardbox.claimed_task;
BEGIN
    -- those that have anything, in an order that is no one's favourite
    SELECT array_agg(n.id ORDER BY random()) INTO served
      FROM unnest(coalesce(tenants, cardbox.served_tenants())) AS n(id)
     CROSS JOIN LATERAL (
           (SELECT FROM cardbox.tasks t
             WHERE t.tenant_id = n.id AND t.wake_at <= moment
             ORDER BY t.wake_at LIMIT 1)
            UNION ALL
           (SELECT FROM cardbox.tasks t
             WHERE take_over AND t.tenant_id = n.id AND t.lease_owner = owner LIMIT 1)
             LIMIT 1) AS due;
    share := ceil(most::numeric / greatest(cardinality(served), 1));
    IF take_over THEN
        FOREACH tenant IN ARRAY coalesce(served, '{}') LOOP
            FOR task IN
                SELECT * FROM cardbox.tasks t
                 WHERE t.tenant_id = tenant AND t.lease_owner = owner
                 LIMIT room FOR NO KEY UPDATE SKIP LOCKED
            LOOP
                claimed := cardbox.take_task(task, owner, lease_ms, most_attempts);
                room := room - 1;
                RETURN NEXT claimed;
            END LOOP;
        END LOOP;
    END IF;
    FOR turn IN 1 .. 2 LOOP
        FOREACH tenant IN ARRAY coalesce(served, '{}') LOOP
            EXIT WHEN room <= 0;
            FOR task IN
                SELECT * FROM cardbox.tasks t
                 WHERE t.tenant_id = tenant AND t.wake_at <= moment
                 ORDER BY t.wake_at LIMIT least(share, room) FOR NO KEY UPDATE SKIP LOCKED
            LOOP
                claimed := cardbox.take_task(task, owner, lease_ms, most_attempts);
                room := room - 1;
                RETURN NEXT claimed;
            END LOOP;
        END LOOP;
        share := room;
    END LOOP;
END
$$;

-- Renews leases. What somebody has locked at this moment is not waited for, and is renewed the next time.
--   1 renewed  2 still held, but not renewed now  3 lost
CREATE FUNCTION cardbox.renew_tasks(
    tenants text[], tasks text[], epochs bigint[], lease_ms bigint)
RETURNS TABLE (ord bigint, state integer, status text)
LANGUAGE sql VOLATILE AS $$
    WITH asked AS (
        SELECT * FROM unnest(tenants, tasks, epochs) WITH ORDINALITY AS k(tenant_id, task_id, epoch, ord)
    ), locked AS MATERIALIZED (
        SELECT a.ord, x.place
          FROM asked a
         CROSS JOIN LATERAL (
                SELECT t.ctid AS place FROM cardbox.tasks t
                 WHERE t.tenant_id = a.tenant_id AND t.task_id = a.task_id AND t.lease_epoch = a.epoch
                   AND t.lease_owner IS NOT NULL
                   FOR NO KEY UPDATE SKIP LOCKED) AS x
    ), renewed AS (
        UPDATE cardbox.tasks t
           SET wake_at = clock_timestamp() + lease_ms * interval '1 millisecond'
         WHERE t.ctid = ANY (ARRAY(SELECT l.place FROM locked l))
    )
    SELECT a.ord, CASE WHEN l.ord IS NOT NULL THEN 1
                       WHEN t.lease_epoch = a.epoch AND t.lease_owner IS NOT NULL THEN 2 ELSE 3 END,
           t.completion_status
      FROM asked a
      LEFT JOIN locked l ON l.ord = a.ord
      LEFT JOIN cardbox.tasks t ON t.tenant_id = a.tenant_id AND t.task_id = a.task_id
     ORDER BY a.ord
$$;

-- What a worker writes while it holds a task: messages and calls as save_ledger takes them, and perhaps
-- the end of its lease. `ending`:
--   0 it goes on  1 the task is finished with end_status  2 it sleeps until sleep_until, or a message comes;
--   NULL: only a message  3 it is handed back, to be claimed by anybody
-- `seen` is the number of the last message that the turn knew, NULL if that is not asked: with a newer one
-- of a user it neither finishes (1) nor sleeps (2). A task that has unfinished subtasks and finishes
-- with `awaits` sleeps instead; the end of each of them wakes it.
CREATE FUNCTION cardbox.write_task(
    tenant text, task text, epoch bigint,
    messages jsonb, contents json[], projections jsonb[],
    calls jsonb, parameters json[], details json[],
    ending integer, end_status text, seen bigint, awaits boolean, sleep_until timestamptz)
RETURNS TABLE (kind integer, ord integer, outcome integer)
LANGUAGE plpgsql AS $$
DECLARE
    held cardbox.tasks;
    bad  boolean := false;
    last integer := 3;
BEGIN
    SELECT * INTO held FROM cardbox.tasks t
     WHERE t.tenant_id = tenant AND t.task_id = task FOR NO KEY UPDATE;
    IF held.lease_epoch IS DISTINCT FROM epoch OR held.lease_owner IS NULL THEN
        RETURN QUERY SELECT 0, 0, 8;
        RETURN;
    END IF;
    FOR kind, ord, outcome IN
        SELECT s.kind, s.ord, s.outcome
          FROM cardbox.save_ledger(tenant, '[]', NULL, write_task.messages, contents, projections,
                                   write_task.calls, parameters, details) AS s
    LOOP
        bad := bad OR outcome > 3;
        RETURN NEXT;
    END LOOP;
    IF bad OR ending = 0 THEN
        RETURN;
    END IF;
    IF seen IS NOT NULL AND ending IN (1, 2) AND EXISTS (
            SELECT FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.task_id = task AND t.last_user > seen) THEN
        RETURN QUERY SELECT 0, 0, 10;
        RETURN;
    END IF;
    IF ending = 1 AND awaits AND EXISTS (
            SELECT FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.parent_task_id = task AND t.completion_status IS NULL) THEN
        ending := 2;
        sleep_until := NULL;
    END IF;
    IF ending = 1 THEN
        PERFORM cardbox.fail_open_calls(tenant, task, 'Task ended', NULL);
        PERFORM cardbox.end_task(tenant, task, end_status, cardbox.now_ms());
    ELSE
        UPDATE cardbox.tasks t
           SET lease_owner = NULL, lease_epoch = t.lease_epoch + 1,
               wake_at = CASE WHEN ending = 2 THEN sleep_until ELSE clock_timestamp() END,
               attempts = CASE WHEN ending = 2 THEN 0 ELSE greatest(t.attempts - 1, 0) END
         WHERE t.tenant_id = tenant AND t.task_id = task;
        last := 11;
    END IF;
    RETURN QUERY SELECT 0, 0, last;
END
$$;

-- A new task with its first messages, runnable at once. The same ids again are the same task: 2.
CREATE FUNCTION cardbox.spawn_task(
    tenant text, task text, parent text, prompt json, messages jsonb, contents json[],
    projections jsonb[])
RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    moment bigint := cardbox.now_ms();
BEGIN
    IF parent IS NOT NULL AND NOT EXISTS (SELECT FROM cardbox.tasks t
                                           WHERE t.tenant_id = tenant AND t.task_id = parent) THEN
        RETURN 5;
    END IF;
    INSERT INTO cardbox.tasks (tenant_id, task_id, parent_task_id, system_prompt, created_at, updated_at,
                               wake_at)
    VALUES (tenant, task, parent, prompt, moment, moment, clock_timestamp())
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (
                SELECT FROM cardbox.messages m
                 WHERE m.tenant_id = tenant AND m.message_id = spawn_task.messages -> 0 ->> 'id'
                   AND m.task_id = task) THEN 2 ELSE 4 END;
    END IF;
    PERFORM cardbox.add_event(tenant, task, 'created', parent, NULL);
    FOR i IN 1 .. jsonb_array_length(spawn_task.messages) LOOP
        IF cardbox.save_message(
                tenant, spawn_task.messages -> i - 1 ->> 'id', task,
                spawn_task.messages -> i - 1 ->> 'role', contents[i], projections[i],
                spawn_task.messages -> i - 1 -> 'metadata', NULL, moment) <> 1 THEN
            RAISE EXCEPTION 'a message of the new task has an id that is taken'
                USING ERRCODE = 'unique_violation';
        END IF;
    END LOOP;
    RETURN 1;
END
$$;

-- Appends a message of a user, and wakes the task unless somebody runs it: who does can't finish before
-- it has seen it.
CREATE FUNCTION cardbox.send_to_task(
    tenant text, task text, message text, content json, projection jsonb, metadata jsonb)
RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    held cardbox.tasks;
    done integer;
BEGIN
    SELECT * INTO held FROM cardbox.tasks t
     WHERE t.tenant_id = tenant AND t.task_id = task FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 5;
    ELSIF held.completion_status IS NOT NULL AND NOT EXISTS (
            SELECT FROM cardbox.messages m WHERE m.tenant_id = tenant AND m.message_id = message) THEN
        RETURN 9;
    END IF;
    done := cardbox.save_message(tenant, message, task, 'user', content, projection, metadata, NULL, NULL);
    IF done = 1 AND held.lease_owner IS NULL THEN
        UPDATE cardbox.tasks t SET wake_at = least(t.wake_at, clock_timestamp())
         WHERE t.tenant_id = tenant AND t.task_id = task;
    END IF;
    RETURN done;
END
$$;

CREATE FUNCTION cardbox.cancel_task(tenant text, task text, reason json) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    held cardbox.tasks;
BEGIN
    SELECT * INTO held FROM cardbox.tasks t
     WHERE t.tenant_id = tenant AND t.task_id = task FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 5;
    ELSIF held.completion_status IS NOT NULL THEN
        RETURN 9;
    END IF;
    PERFORM cardbox.fail_open_calls(tenant, task, 'Task cancelled', NULL);
    UPDATE cardbox.tasks t SET cancel_reason = reason WHERE t.tenant_id = tenant AND t.task_id = task;
    PERFORM cardbox.end_task(tenant, task, 'cancelled', cardbox.now_ms());
    RETURN 3;
END
$$;

ALTER TABLE cardbox.task_channels ENABLE ROW LEVEL SECURITY;
ALTER TABLE cardbox.task_channels FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON cardbox.task_channels TO cardbox_service USING (true) WITH CHECK (true);
CREATE POLICY worker ON cardbox.task_channels TO cardbox_worker
    USING (tenant_id IN (SELECT g.tenant_id FROM cardbox.tenant_grants g
                          WHERE g.role_name = current_user));
GRANT SELECT, INSERT ON cardbox.task_channels TO cardbox_service, cardbox_worker;

REVOKE EXECUTE ON FUNCTION cardbox.notify_workers, cardbox.served_tenants, cardbox.listen_for_tasks,
    cardbox.fail_open_calls, cardbox.take_task, cardbox.claim_tasks, cardbox.renew_tasks,
    cardbox.write_task, cardbox.spawn_task, cardbox.send_to_task, cardbox.cancel_task FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.notify_workers, cardbox.served_tenants, cardbox.listen_for_tasks,
    cardbox.fail_open_calls, cardbox.take_task, cardbox.claim_tasks, cardbox.renew_tasks,
    cardbox.write_task, cardbox.spawn_task, cardbox.send_to_task, cardbox.cancel_task
    TO cardbox_service, cardbox_worker;
