-- Functions that read more than what they are about, in projects that are large or uneven. PostgreSQL keeps no
-- statistics of tenants' rows (0051), so where a join or a filter leaves it a choice it chooses by the shape of the
-- query alone: tests/store/test_costs.py runs them all in such projects and counts what they read.

-- Lists of boxes walked over those that were deleted and not purged yet. The condition is one that only those
-- statements have: with IS NULL PostgreSQL took this index for the best to look up single boxes in, which it is not.
CREATE INDEX card_boxes_live ON cardbox.card_boxes (tenant_id, created_at, box_id)
    WHERE CASE WHEN deleted_at IS NULL THEN true ELSE false END;

-- As in 0008, but in the order of an index: without one a batch read all cards to find the dead.
CREATE OR REPLACE FUNCTION cardbox.collect_cards(INOUT done cardbox.collected, retention bigint)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    cutoff timestamptz := clock_timestamp() - make_interval(secs => retention);
BEGIN
    WITH dead AS (
        (SELECT c.tenant_id, c.card_id FROM cardbox.cards c
          WHERE c.expires_at <= statement_timestamp() ORDER BY c.expires_at LIMIT done.room)
        UNION
        (SELECT c.tenant_id, c.card_id FROM cardbox.cards c WHERE c.deleted_at <= cutoff
          ORDER BY c.deleted_at LIMIT done.room)
    ), locked AS MATERIALIZED (
        SELECT c.tenant_id, c.card_id, c.place
          FROM (SELECT * FROM dead LIMIT done.room) AS d
         CROSS JOIN LATERAL (
                SELECT x.tenant_id, x.card_id, x.ctid AS place FROM cardbox.cards x
                 WHERE x.tenant_id = d.tenant_id AND x.card_id = d.card_id
                   -- once more, since the row may have been brought back meanwhile
                   AND (x.expires_at <= statement_timestamp() OR x.deleted_at <= cutoff)
                   FOR UPDATE SKIP LOCKED) AS c
    ), removed AS ( -- by place, which is fixed while it is locked: a join might read the whole table
        DELETE FROM cardbox.cards c WHERE c.ctid = ANY (ARRAY (SELECT k.place FROM locked k))
        RETURNING cardbox.card_bytes(c.content, c.raw, c.metadata) AS bytes
    ), unrevised AS (
        DELETE FROM cardbox.card_revisions r
         WHERE r.ctid = ANY (ARRAY (
                SELECT v.place FROM locked k
                 CROSS JOIN LATERAL (
                        SELECT x.ctid AS place FROM cardbox.card_revisions x
                         WHERE x.tenant_id = k.tenant_id AND x.card_id = k.card_id
                        OFFSET 0) AS v))
        RETURNING cardbox.card_bytes(r.content, r.raw, r.metadata) AS bytes
    )
    SELECT (SELECT count(*) FROM removed), (SELECT coalesce(sum(r.bytes), 0) FROM removed r),
           (SELECT count(*) FROM unrevised), (SELECT coalesce(sum(u.bytes), 0) FROM unrevised u)
      INTO done.cards, done.card_bytes, done.revisions, done.revision_bytes;
    done.room := done.room - done.cards;
END
$$;

-- As in 0008, but that boxes that are not due yet are not looked at, and that of a long log, or a long chain, no more
-- is read than is removed: by place, since a join read all of it for each batch.
CREATE OR REPLACE FUNCTION cardbox.collect_boxes(INOUT done cardbox.collected, retention bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    cutoff timestamptz := clock_timestamp() - make_interval(secs => retention);
    box    record;
    gone   record;
BEGIN
    FOR box IN
        SELECT b.tenant_id, b.box_id, b.chain_id, pg_column_size(b.*) AS bytes
          FROM cardbox.card_boxes b
         WHERE b.deleted_at <= cutoff
         ORDER BY b.deleted_at LIMIT done.room FOR UPDATE SKIP LOCKED
    LOOP
        WITH removed AS (
            DELETE FROM cardbox.card_box_log l
             WHERE l.ctid = ANY (ARRAY (SELECT x.ctid FROM cardbox.card_box_log x
                                         WHERE x.tenant_id = box.tenant_id AND x.box_id = box.box_id
                                         ORDER BY x.version LIMIT done.room))
            RETURNING l.chain_id, pg_column_size(l.*) AS bytes
        ), orphaned AS (
            INSERT INTO cardbox.card_box_orphans (tenant_id, chain_id)
            SELECT DISTINCT box.tenant_id, r.chain_id FROM removed r
            ON CONFLICT DO NOTHING
        )
        SELECT count(*) AS changes, coalesce(sum(r.bytes), 0) AS bytes INTO gone FROM removed r;
        done.changes := done.changes + gone.changes;
        done.change_bytes := done.change_bytes + gone.bytes;
        done.room := done.room - gone.changes;
        EXIT WHEN done.room <= 0; -- the rest of this box is for the next batch
        INSERT INTO cardbox.card_box_orphans (tenant_id, chain_id)
        VALUES (box.tenant_id, box.chain_id) ON CONFLICT DO NOTHING;
        DELETE FROM cardbox.card_boxes b
         WHERE b.tenant_id = box.tenant_id AND b.box_id = box.box_id;
        done.boxes := done.boxes + 1;
        done.box_bytes := done.box_bytes + box.bytes;
        done.room := done.room - 1;
        EXIT WHEN done.room <= 0;
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION cardbox.collect_chains(INOUT done cardbox.collected)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    orphan  record;
    gone   record;
    ceiling bigint; -- positions below are read by chains that continue this one
BEGIN
    FOR orphan IN
        SELECT o.tenant_id, o.chain_id FROM cardbox.card_box_orphans o WHERE o.due LIMIT done.room
    LOOP
        SELECT max(c.parent_length) INTO ceiling FROM cardbox.card_box_chains c
         WHERE c.tenant_id = orphan.tenant_id AND c.parent_chain_id = orphan.chain_id;
        WITH removed AS (
            DELETE FROM cardbox.card_box_segments s
             WHERE s.ctid = ANY (ARRAY (SELECT x.ctid FROM cardbox.card_box_segments x
                                         WHERE x.tenant_id = orphan.tenant_id
                                           AND x.chain_id = orphan.chain_id
                                           AND x.start >= coalesce(ceiling, 0)
                                         ORDER BY x.start LIMIT done.room))
            RETURNING pg_column_size(s.card_ids) AS bytes
        )
        SELECT count(*) AS segments, coalesce(sum(r.bytes), 0) AS bytes INTO gone FROM removed r;
        done.segments := done.segments + gone.segments;
        done.segment_bytes := done.segment_bytes + gone.bytes;
        done.room := done.room - gone.segments;
        EXIT WHEN done.room <= 0;
        IF ceiling IS NOT NULL THEN
            UPDATE cardbox.card_box_orphans o SET due = false
             WHERE o.tenant_id = orphan.tenant_id AND o.chain_id = orphan.chain_id;
            CONTINUE;
        END IF;
        DELETE FROM cardbox.card_box_chains c
         WHERE c.tenant_id = orphan.tenant_id AND c.chain_id = orphan.chain_id
        RETURNING c.parent_chain_id, pg_column_size(c.*) AS bytes INTO gone;
        IF FOUND THEN
            done.chains := done.chains + 1;
            done.chain_bytes := done.chain_bytes + gone.bytes;
            UPDATE cardbox.card_box_orphans o SET due = true
             WHERE o.tenant_id = orphan.tenant_id AND o.chain_id = gone.parent_chain_id;
            done.more := done.more OR FOUND;
        END IF;
        DELETE FROM cardbox.card_box_orphans o
         WHERE o.tenant_id = orphan.tenant_id AND o.chain_id = orphan.chain_id;
        done.room := done.room - 1;
        EXIT WHEN done.room <= 0;
    END LOOP;
END
$$;

-- The last entries in their order, and not all of them sorted.
ALTER FUNCTION cardbox.remove_session_part(text, text, bigint) SET enable_bitmapscan = off;

-- Locks what there is of these tasks, always in the same order, so that two who do this can't stop each other.
CREATE FUNCTION cardbox.lock_tasks(tenant text, ids text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM (SELECT DISTINCT u.id COLLATE "C" AS id FROM unnest(ids) AS u(id) ORDER BY 1) AS k
      CROSS JOIN LATERAL (
            SELECT FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.task_id = k.id FOR NO KEY UPDATE) AS t;
END
$$;
REVOKE EXECUTE ON FUNCTION cardbox.lock_tasks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.lock_tasks TO cardbox_service, cardbox_worker;

-- As in 0011, but that what is named is locked by look-ups: a join read all tasks of the project for each turn that
-- a worker wrote. And parents too, where a task may end here: who ends one locks its parent.
CREATE OR REPLACE FUNCTION cardbox.save_ledger(
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
    PERFORM cardbox.lock_tasks(tenant, ARRAY(
        SELECT g.value ->> 'task' FROM jsonb_array_elements(save_ledger.messages || save_ledger.calls) AS g
         UNION ALL SELECT g.value ->> 'id' FROM jsonb_array_elements(save_ledger.tasks) AS g
         UNION ALL SELECT g.value ->> 'parent' FROM jsonb_array_elements(save_ledger.tasks) AS g
                    WHERE g.value ->> 'status' IS NOT NULL));
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

-- As in 0047, but that cards of calls are found by their calls: PostgreSQL took a hundred of them for half of all
-- there are, and read the project from its newest card on until it had a page.
CREATE OR REPLACE FUNCTION cardbox.list_cards(
    tenant text, step text, kind text, trace text, turn text, said_by text, calls text[], members jsonb,
    made_after timestamptz, made_before timestamptz, from_time timestamptz, from_id text,
    most bigint, walk bigint)
RETURNS TABLE (said bigint, card_id text, content json, tool_calls jsonb, tool_call_id text,
               ttl_seconds integer, expires_at timestamptz, metadata jsonb, created_at timestamptz,
               sealed boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan AS $$
BEGIN
    IF NOT cardbox.session_sees(tenant) THEN
        RETURN;
    END IF;
    IF calls IS NOT NULL THEN
        RETURN QUERY
        SELECT 1::bigint, c.card_id, coalesce(c.raw, c.content::text::json), c.tool_calls, c.tool_call_id,
               c.ttl_seconds, c.expires_at, c.metadata, c.created_at, c.sealed
          FROM (SELECT DISTINCT u.id FROM unnest(calls) AS u(id)) AS k
         CROSS JOIN LATERAL (SELECT * FROM cardbox.cards x
                              WHERE x.tenant_id = tenant AND x.tool_call_id = k.id OFFSET 0) AS c
         WHERE c.content IS NOT NULL AND c.deleted_at IS NULL
           AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())
           AND (step IS NULL OR c.metadata ->> 'step_id' = step)
           AND (kind IS NULL OR c.metadata ->> 'type' = kind)
           AND (trace IS NULL OR c.metadata ->> 'trace_id' = trace)
           AND (turn IS NULL OR c.metadata ->> 'agent_turn_id' = turn)
           AND (said_by IS NULL OR c.metadata ->> 'role' = said_by)
           AND (members IS NULL OR c.metadata @> members)
           AND (made_after IS NULL OR c.created_at > made_after)
           AND (made_before IS NULL OR c.created_at < made_before)
           AND (from_time IS NULL OR (c.created_at, c.card_id) < (from_time, from_id))
         ORDER BY c.created_at DESC, c.card_id DESC LIMIT most;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT CASE WHEN w.fits THEN 1 ELSE 0 END + CASE WHEN w.n = walk THEN 2 ELSE 0 END::bigint, w.card_id,
           CASE WHEN w.fits THEN coalesce(w.raw, w.content::text::json) END,
           CASE WHEN w.fits THEN w.tool_calls END, w.tool_call_id, w.ttl_seconds, w.expires_at,
           CASE WHEN w.fits THEN w.metadata END, w.created_at, w.sealed
      FROM (SELECT o.*, row_number() OVER () AS n
              FROM (SELECT c.card_id, c.content, c.raw, c.tool_calls, c.tool_call_id, c.ttl_seconds,
                           c.expires_at, c.metadata, c.created_at, c.sealed,
                           c.content IS NOT NULL AND c.deleted_at IS NULL
                           AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())
                           AND (step IS NULL OR c.metadata ->> 'step_id' = step)
                           AND (kind IS NULL OR c.metadata ->> 'type' = kind)
                           AND (trace IS NULL OR c.metadata ->> 'trace_id' = trace)
                           AND (turn IS NULL OR c.metadata ->> 'agent_turn_id' = turn)
                           AND (said_by IS NULL OR c.metadata ->> 'role' = said_by)
                           AND (members IS NULL OR c.metadata @> members) AS fits
                      FROM cardbox.cards c,
                           LATERAL (SELECT CASE WHEN step IS NOT NULL THEN c.metadata ->> 'step_id'
                                                WHEN turn IS NOT NULL THEN c.metadata ->> 'agent_turn_id'
                                                WHEN trace IS NOT NULL THEN c.metadata ->> 'trace_id'
                                                WHEN kind IS NOT NULL THEN c.metadata ->> 'type' END AS key,
                                           coalesce(step, turn, trace, kind) AS value) AS i
                     WHERE c.tenant_id = tenant
                       AND (i.value IS NULL OR i.key = i.value AND i.key ~>=~ i.value AND i.key ~<=~ i.value)
                       AND (made_after IS NULL OR made_before IS NULL OR c.tenant_id BETWEEN tenant AND tenant)
                       AND (made_after IS NULL OR c.created_at > made_after)
                       AND (made_before IS NULL OR c.created_at < made_before)
                       AND (from_time IS NULL OR (c.created_at, c.card_id) < (from_time, from_id))
                     ORDER BY i.key USING ~>~, c.created_at DESC, c.card_id DESC
                     LIMIT walk) AS o) AS w
     WHERE w.fits OR w.n = walk
     LIMIT most;
END
$$;

-- As in 0010, but that what waits is looked up in, and the way of parents is walked once: both were joined, each
-- entry that waits with each that is new.
CREATE OR REPLACE FUNCTION cardbox.session_rings(
    tenant text, session text, ids text[], seqs bigint[], parents bigint[], first_seq bigint)
RETURNS bigint[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
    starts bigint[]; -- new ones that something waits for
    ups    bigint[] := '{}'; -- by place among the new ones, from 1: the next one on the way up
    walks  bigint[] := '{}';
    rings  boolean[] := '{}';
    n      record;
    up     bigint;
    at     bigint;
BEGIN
    SELECT array_agg(DISTINCT u.seq) INTO starts FROM unnest(ids, seqs) AS u(id, seq)
     WHERE u.seq >= first_seq
       AND (u.id IN (SELECT e.missing FROM cardbox.session_entries e -- hashed, as no join could be
                      WHERE e.tenant_id = tenant AND e.session_id = session AND e.missing IS NOT NULL)) IS TRUE;
    FOR n IN SELECT u.seq, u.parent FROM unnest(seqs, parents) AS u(seq, parent)
              WHERE u.seq >= first_seq AND u.parent IS NOT NULL LOOP
        up := n.parent;
        IF up < first_seq THEN
            SELECT seqs[array_position(ids, root.missing)] INTO up
              FROM cardbox.session_path(tenant, session, n.parent) AS w
             CROSS JOIN LATERAL (
                    SELECT e.missing FROM cardbox.session_entries e
                     WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = w.branch
                    OFFSET 0) AS root
             WHERE w.low = 0;
        END IF;
        IF up >= first_seq THEN
            ups[n.seq - first_seq + 1] := up - first_seq + 1;
        END IF;
    END LOOP;
    FOREACH up IN ARRAY coalesce(starts, '{}') LOOP
        at := up - first_seq + 1;
        WHILE at IS NOT NULL AND walks[at] IS NULL LOOP
            walks[at] := up;
            at := ups[at];
        END LOOP;
        IF walks[at] = up THEN
            WHILE rings[at] IS NULL LOOP
                rings[at] := true;
                at := ups[at];
            END LOOP;
        END IF;
    END LOOP;
    RETURN ARRAY(SELECT s.seq FROM unnest(starts) AS s(seq) WHERE rings[s.seq - first_seq + 1]);
END
$$;

-- As in 0004, but that the ends of the log are looked up: asked for both in one query PostgreSQL read all of it.
CREATE OR REPLACE FUNCTION cardbox.version_at(tenant text, box uuid, moment timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
DECLARE
    below  bigint; -- was then, or is before the log begins
    above  bigint; -- was not yet
    middle bigint;
    first  bigint;
    early  boolean;
BEGIN
    SELECT l.version INTO first FROM cardbox.card_box_log l
     WHERE l.tenant_id = tenant AND l.box_id = box ORDER BY l.version LIMIT 1;
    SELECT l.version + 1 INTO above FROM cardbox.card_box_log l
     WHERE l.tenant_id = tenant AND l.box_id = box ORDER BY l.version DESC LIMIT 1;
    below := first - 1;
    WHILE above - below > 1 LOOP
        middle := (below + above) / 2;
        SELECT l.at <= moment INTO early FROM cardbox.card_box_log l
         WHERE l.tenant_id = tenant AND l.box_id = box AND l.version = middle;
        IF early THEN
            below := middle;
        ELSE
            above := middle;
        END IF;
    END LOOP;
    RETURN CASE WHEN below >= first THEN below END;
END
$$;
