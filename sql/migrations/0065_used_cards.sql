-- One function decides whether a card is still used, and every deletion of cards calls it. A session that a
-- project import restores is invisible until it is whole. An entry without an id that follows another batch of
-- its file gets the parent that the importer names.

LOCK TABLE cardbox.sessions IN SHARE ROW EXCLUSIVE MODE; -- transactions that restore sessions the old way have ended

-- The lines of a session without a row in cardbox.sessions: a deletion removes them, or an import restores them.
-- Either way no session can be created under the id meanwhile, and nothing reads the lines.
ALTER TABLE cardbox.session_remains ADD restoring boolean NOT NULL DEFAULT false;
ALTER TABLE cardbox.session_remains ALTER restoring SET STATISTICS 0; -- as 0051 did with all columns
INSERT INTO cardbox.session_remains (tenant_id, session_id, restoring)
SELECT s.tenant_id, s.session_id, true FROM cardbox.sessions s WHERE s.version = 0;
DELETE FROM cardbox.sessions s WHERE s.version = 0;

-- A worker may restore sessions of its tenants, and must not mark others as deleted.
GRANT INSERT (tenant_id, session_id, restoring), UPDATE (restoring) ON cardbox.session_remains TO cardbox_worker;
CREATE POLICY worker_inserts ON cardbox.session_remains AS RESTRICTIVE FOR INSERT TO cardbox_worker
    WITH CHECK (restoring);
CREATE POLICY worker_updates ON cardbox.session_remains AS RESTRICTIVE FOR UPDATE TO cardbox_worker
    USING (restoring) WITH CHECK (restoring);

-- Whether something still needs a card: a session's entry or a message. A session that is being deleted needs none.
-- Lists of boxes may name cards that are gone, so they do not count. The caller has locked the card, and its
-- statement began after that: see 0024. A range of one card, in order and without a sort, is read by the one index that
-- has this order, also by a plan that was made when there was next to nothing in the tables.
CREATE FUNCTION cardbox.card_is_used(tenant text, card text) RETURNS boolean
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
BEGIN
    RETURN (SELECT e.card_id FROM cardbox.session_entries e
             WHERE e.tenant_id = tenant AND e.card_id BETWEEN card AND card
               AND NOT EXISTS (SELECT FROM cardbox.session_remains r
                                WHERE r.tenant_id = tenant AND r.session_id = e.session_id
                                  AND NOT r.restoring OFFSET 0)
             ORDER BY e.card_id LIMIT 1) IS NOT NULL
        OR (SELECT m.message_id FROM cardbox.messages m
             WHERE m.tenant_id = tenant AND m.message_id BETWEEN card AND card
             ORDER BY m.message_id LIMIT 1) IS NOT NULL;
END
$$;

-- As in 0036, but that card_is_used decides: a card of a message stays.
CREATE OR REPLACE FUNCTION cardbox.remove_session_part(
    tenant text, session text, most bigint, OUT entries bigint, OUT entry_bytes bigint,
    OUT cards bigint, OUT card_bytes bigint, OUT more boolean)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    ids   text[];
    first bigint;
    others bigint;
BEGIN
    SELECT array_agg(k.card_id ORDER BY k.card_id), min(k.seq) INTO ids, first
      FROM (SELECT e.card_id, e.seq FROM cardbox.session_entries e
             WHERE e.tenant_id = tenant AND e.session_id = session ORDER BY e.seq DESC LIMIT most) AS k;
    PERFORM FROM unnest(ids) AS k(id) -- in this order
      CROSS JOIN LATERAL (
            SELECT FROM cardbox.cards c
             WHERE c.tenant_id = tenant AND c.card_id BETWEEN k.id AND k.id
             ORDER BY c.card_id LIMIT 1 FOR UPDATE) AS c;
    WITH removed AS (
        DELETE FROM cardbox.session_entries e
         WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq >= first
        RETURNING pg_column_size(e.*) AS bytes)
    SELECT count(*), coalesce(sum(r.bytes), 0) INTO entries, entry_bytes FROM removed r;
    PERFORM set_config('cardbox.deletes_session', 'on', true);
    WITH unused AS MATERIALIZED (
        SELECT c.place, c.card_id
          FROM unnest(ids) AS k(id)
         CROSS JOIN LATERAL (
                SELECT x.ctid AS place, x.card_id FROM cardbox.cards x
                 WHERE x.tenant_id = tenant AND x.card_id BETWEEN k.id AND k.id
                 ORDER BY x.card_id LIMIT 1) AS c
         WHERE NOT cardbox.card_is_used(tenant, c.card_id)
    ), removed AS (
        DELETE FROM cardbox.cards c WHERE c.ctid = ANY (ARRAY (SELECT u.place FROM unused u))
        RETURNING cardbox.card_bytes(c.content, c.raw, c.metadata) AS bytes
    ), unrevised AS (
        DELETE FROM cardbox.card_revisions r
         WHERE r.ctid = ANY (ARRAY (
                SELECT v.place FROM unused u
                 CROSS JOIN LATERAL (
                        SELECT x.ctid AS place FROM cardbox.card_revisions x
                         WHERE x.tenant_id = tenant AND x.card_id = u.card_id
                        OFFSET 0) AS v))
    )
    SELECT count(*), coalesce(sum(r.bytes), 0) INTO cards, card_bytes FROM removed r;
    PERFORM set_config('cardbox.deletes_session', '', true);
    more := entries >= most;
    DELETE FROM cardbox.session_lines l
     WHERE l.ctid = ANY (ARRAY (SELECT x.ctid FROM cardbox.session_lines x
                                 WHERE x.tenant_id = tenant AND x.session_id = session
                                 ORDER BY x.seq, x.ord LIMIT most));
    GET DIAGNOSTICS others = ROW_COUNT;
    more := more OR others >= most;
    DELETE FROM cardbox.session_keys k
     WHERE k.ctid = ANY (ARRAY (SELECT x.ctid FROM cardbox.session_keys x
                                 WHERE x.tenant_id = tenant AND x.session_id = session
                                 ORDER BY x.append_key LIMIT most));
    GET DIAGNOSTICS others = ROW_COUNT;
    more := more OR others >= most;
    IF NOT more THEN
        DELETE FROM cardbox.session_remains r WHERE r.tenant_id = tenant AND r.session_id = session;
    END IF;
END
$$;

-- As in 0037, likewise.
CREATE OR REPLACE FUNCTION cardbox.remove_unused_cards(tenant text, ids text[]) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    unused text[];
BEGIN
    PERFORM FROM (SELECT u.id FROM unnest(ids) AS u(id) ORDER BY u.id COLLATE "C" OFFSET 0) AS k
      CROSS JOIN LATERAL (
            SELECT FROM cardbox.cards c
             WHERE c.tenant_id = tenant AND c.card_id BETWEEN k.id AND k.id
             ORDER BY c.card_id LIMIT 1 FOR UPDATE) AS c;
    SELECT array_agg(k.id) INTO unused
      FROM unnest(ids) AS k(id)
     WHERE NOT cardbox.card_is_used(tenant, k.id);
    PERFORM set_config('cardbox.deletes_session', 'on', true);
    DELETE FROM cardbox.cards c WHERE c.tenant_id = tenant AND c.card_id = ANY (unused);
    PERFORM set_config('cardbox.deletes_session', '', true);
    DELETE FROM cardbox.card_revisions r WHERE r.tenant_id = tenant AND r.card_id = ANY (unused);
END
$$;

-- As in 0053, likewise. The check may come before the lock: of a dead card no entry and no message is made.
CREATE OR REPLACE FUNCTION cardbox.collect_cards(INOUT done cardbox.collected, retention bigint)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    cutoff timestamptz := clock_timestamp() - make_interval(secs => retention);
BEGIN
    WITH dead AS (
        (SELECT c.tenant_id, c.card_id FROM cardbox.cards c
          WHERE c.expires_at <= statement_timestamp() AND NOT cardbox.card_is_used(c.tenant_id, c.card_id)
          ORDER BY c.expires_at LIMIT done.room)
        UNION
        (SELECT c.tenant_id, c.card_id FROM cardbox.cards c
          WHERE c.deleted_at <= cutoff AND NOT cardbox.card_is_used(c.tenant_id, c.card_id)
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

-- As in 0008, likewise.
CREATE OR REPLACE FUNCTION cardbox.collectable(retention bigint) RETURNS cardbox.collected
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    WITH RECURSIVE cutoff AS (
        SELECT statement_timestamp() - make_interval(secs => retention) AS moment
    ), dead_cards AS (
        SELECT c.tenant_id, c.card_id, cardbox.card_bytes(c.content, c.raw, c.metadata) AS bytes
          FROM cardbox.cards c
         WHERE (c.expires_at <= statement_timestamp()
                OR c.deleted_at <= (SELECT moment FROM cutoff))
           AND NOT cardbox.card_is_used(c.tenant_id, c.card_id)
    ), dead_revisions AS (
        SELECT cardbox.card_bytes(r.content, r.raw, r.metadata) AS bytes
          FROM dead_cards d
         CROSS JOIN LATERAL (SELECT * FROM cardbox.card_revisions x
                              WHERE x.tenant_id = d.tenant_id AND x.card_id = d.card_id
                             OFFSET 0) AS r
    ), dead_boxes AS MATERIALIZED (
        SELECT b.tenant_id, b.box_id, b.chain_id, pg_column_size(b.*) AS bytes
          FROM cardbox.card_boxes b WHERE b.deleted_at <= (SELECT moment FROM cutoff)
    ), dead_changes AS MATERIALIZED (
        SELECT d.tenant_id, l.chain_id, l.bytes
          FROM dead_boxes d
         CROSS JOIN LATERAL (SELECT x.chain_id, pg_column_size(x.*) AS bytes
                               FROM cardbox.card_box_log x
                              WHERE x.tenant_id = d.tenant_id AND x.box_id = d.box_id
                             OFFSET 0) AS l
    ), orphans AS MATERIALIZED (
        SELECT tenant_id, chain_id FROM dead_boxes
        UNION SELECT tenant_id, chain_id FROM dead_changes
        UNION SELECT tenant_id, chain_id FROM cardbox.card_box_orphans
    ), links AS MATERIALIZED ( -- what continues an orphan
        SELECT o.tenant_id, o.chain_id AS parent_id, c.chain_id, c.parent_length
          FROM orphans o
         CROSS JOIN LATERAL (SELECT x.chain_id, x.parent_length FROM cardbox.card_box_chains x
                              WHERE x.tenant_id = o.tenant_id AND x.parent_chain_id = o.chain_id
                             OFFSET 0) AS c
    ), kept AS ( -- orphans that are continued, directly or through others, by a chain that lives
        SELECT l.tenant_id, l.parent_id AS chain_id FROM links l
         WHERE (l.tenant_id, l.chain_id) NOT IN (SELECT o.tenant_id, o.chain_id FROM orphans o)
        UNION
        SELECT l.tenant_id, l.parent_id FROM kept k
          JOIN links l ON l.tenant_id = k.tenant_id AND l.chain_id = k.chain_id
    ), ceilings AS (
        SELECT o.tenant_id, o.chain_id, coalesce(max(l.parent_length), 0) AS ceiling
          FROM orphans o
          LEFT JOIN links l
            ON l.tenant_id = o.tenant_id AND l.parent_id = o.chain_id
           AND ((l.tenant_id, l.chain_id) NOT IN (SELECT x.tenant_id, x.chain_id FROM orphans x)
                OR (l.tenant_id, l.chain_id) IN (SELECT k.tenant_id, k.chain_id FROM kept k))
         GROUP BY o.tenant_id, o.chain_id
    ), dead_segments AS (
        SELECT s.bytes
          FROM ceilings t
         CROSS JOIN LATERAL (SELECT pg_column_size(x.card_ids) AS bytes
                               FROM cardbox.card_box_segments x
                              WHERE x.tenant_id = t.tenant_id AND x.chain_id = t.chain_id
                                AND x.start >= t.ceiling
                             OFFSET 0) AS s
    ), dead_chains AS (
        SELECT c.bytes
          FROM orphans o
         CROSS JOIN LATERAL (SELECT pg_column_size(x.*) AS bytes FROM cardbox.card_box_chains x
                              WHERE x.tenant_id = o.tenant_id AND x.chain_id = o.chain_id
                             OFFSET 0) AS c
         WHERE (o.tenant_id, o.chain_id) NOT IN (SELECT k.tenant_id, k.chain_id FROM kept k)
    )
    SELECT ROW(false, false, 0,
               (SELECT count(*) FROM dead_cards), (SELECT coalesce(sum(bytes), 0) FROM dead_cards),
               (SELECT count(*) FROM dead_revisions),
               (SELECT coalesce(sum(bytes), 0) FROM dead_revisions),
               (SELECT count(*) FROM dead_boxes), (SELECT coalesce(sum(bytes), 0) FROM dead_boxes),
               (SELECT count(*) FROM dead_changes),
               (SELECT coalesce(sum(bytes), 0) FROM dead_changes),
               (SELECT count(*) FROM dead_segments),
               (SELECT coalesce(sum(bytes), 0) FROM dead_segments),
               (SELECT count(*) FROM dead_chains),
               (SELECT coalesce(sum(bytes), 0) FROM dead_chains))::cardbox.collected
$$;

-- As in 0036, likewise, and without sessions that are being restored.
CREATE OR REPLACE FUNCTION cardbox.collectable_sessions(
    OUT entries bigint, OUT entry_bytes bigint, OUT cards bigint, OUT card_bytes bigint)
LANGUAGE sql STABLE AS $$
    WITH dead AS MATERIALIZED (
        SELECT e.tenant_id, e.card_id, e.bytes
          FROM cardbox.session_remains r
         CROSS JOIN LATERAL (
                SELECT x.tenant_id, x.card_id, pg_column_size(x.*) AS bytes FROM cardbox.session_entries x
                 WHERE x.tenant_id = r.tenant_id AND x.session_id = r.session_id
                OFFSET 0) AS e
         WHERE NOT r.restoring
    ), unused AS (
        SELECT c.bytes
          FROM (SELECT DISTINCT d.tenant_id, d.card_id FROM dead d) AS k
         CROSS JOIN LATERAL (
                SELECT cardbox.card_bytes(x.content, x.raw, x.metadata) AS bytes FROM cardbox.cards x
                 WHERE x.tenant_id = k.tenant_id AND x.card_id = k.card_id
                OFFSET 0) AS c
         WHERE NOT cardbox.card_is_used(k.tenant_id, k.card_id)
    )
    SELECT (SELECT count(*) FROM dead), (SELECT coalesce(sum(d.bytes), 0) FROM dead d),
           (SELECT count(*) FROM unused), (SELECT coalesce(sum(u.bytes), 0) FROM unused u)
$$;

CREATE OR REPLACE FUNCTION cardbox.collect_sessions(
    most bigint, OUT entries bigint, OUT entry_bytes bigint, OUT cards bigint, OUT card_bytes bigint,
    OUT more boolean)
LANGUAGE plpgsql AS $$
DECLARE
    r record;
    p record;
BEGIN
    entries := 0;
    entry_bytes := 0;
    cards := 0;
    card_bytes := 0;
    more := false;
    WHILE entries < most LOOP
        SELECT x.tenant_id, x.session_id INTO r FROM cardbox.session_remains x
         WHERE NOT x.restoring LIMIT 1 FOR UPDATE SKIP LOCKED;
        EXIT WHEN NOT FOUND;
        SELECT * INTO p FROM cardbox.remove_session_part(r.tenant_id, r.session_id, most - entries);
        entries := entries + p.entries;
        entry_bytes := entry_bytes + p.entry_bytes;
        cards := cards + p.cards;
        card_bytes := card_bytes + p.card_bytes;
        more := p.more;
        EXIT WHEN more;
    END LOOP;
END
$$;

-- As in 0011, but that a card that is there is locked, so that no deletion removes it meanwhile.
CREATE OR REPLACE FUNCTION cardbox.save_message(
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
    -- An import brings the card first. A deletion that this waits for may remove it: then it is inserted after all.
    FOR attempt IN 1 .. 2 LOOP
        INSERT INTO cardbox.cards (tenant_id, card_id, content, raw, tool_calls, metadata, created_at, sealed)
        VALUES (tenant, id, coalesce(projection, content::jsonb), content, save_message.tool_calls,
                save_message.metadata, 'epoch'::timestamptz + ts * interval '1 millisecond', true)
        ON CONFLICT DO NOTHING;
        EXIT WHEN FOUND;
        PERFORM FROM cardbox.cards c
          WHERE c.tenant_id = tenant AND c.card_id = id AND c.sealed AND c.expires_at IS NULL
            AND c.deleted_at IS NULL AND cardbox.same_json(c.raw, save_message.content) FOR KEY SHARE;
        EXIT WHEN FOUND;
        IF attempt = 2 THEN
            RETURN 4;
        END IF;
    END LOOP;
    INSERT INTO cardbox.messages (tenant_id, message_id, task_id, role, ts, seq)
    VALUES (tenant, id, task, save_message.role, ts,
            cardbox.add_event(tenant, task, 'message', id, save_message.role))
    ON CONFLICT DO NOTHING;
    RETURN CASE WHEN FOUND THEN 1 ELSE 4 END; -- else another task got it at this moment
END
$$;

-- After the row of a session was inserted, which waits for a deletion or a restoration of its id. With
-- cardbox.restores_session 'begin' the row is a lock (see begin_restoring); 'end': the session is whole.
CREATE OR REPLACE FUNCTION cardbox.refuse_session_of_remains() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    step text := current_setting('cardbox.restores_session', true);
    is_restored boolean;
BEGIN
    IF step = 'begin' THEN
        RETURN NULL;
    ELSIF step = 'end' THEN
        DELETE FROM cardbox.session_remains r
         WHERE r.tenant_id = NEW.tenant_id AND r.session_id = NEW.session_id AND r.restoring;
    END IF;
    SELECT r.restoring INTO is_restored FROM cardbox.session_remains r
     WHERE r.tenant_id = NEW.tenant_id AND r.session_id = NEW.session_id;
    IF is_restored THEN
        RAISE EXCEPTION 'session % is being restored by an import: repeat the import to complete it, or delete '
            'the session', NEW.session_id USING ERRCODE = 'CB001';
    ELSIF FOUND THEN
        RAISE EXCEPTION 'session % is still being deleted: try again in a moment', NEW.session_id
            USING ERRCODE = 'CB001';
    END IF;
    RETURN NULL;
END
$$;

-- Takes the marker of a restoration back if there is such a session. The session's row is inserted and removed,
-- so that this and the creation of a session wait for each other. Workers have no right to delete.
CREATE FUNCTION cardbox.begin_restoring() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM set_config('cardbox.restores_session', 'begin', true);
    INSERT INTO cardbox.sessions (tenant_id, session_id, last_seq, last_ord, open_end, entries, version,
                                  created_at, updated_at)
    VALUES (NEW.tenant_id, NEW.session_id, -1, 0, false, 0, 0, clock_timestamp(), clock_timestamp())
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        DELETE FROM cardbox.sessions s WHERE s.tenant_id = NEW.tenant_id AND s.session_id = NEW.session_id;
    ELSE
        DELETE FROM cardbox.session_remains r
         WHERE r.tenant_id = NEW.tenant_id AND r.session_id = NEW.session_id;
    END IF;
    PERFORM set_config('cardbox.restores_session', '', true);
    RETURN NULL;
END
$$;
CREATE TRIGGER session_remains_restoring AFTER INSERT ON cardbox.session_remains
    FOR EACH ROW WHEN (NEW.restoring) EXECUTE FUNCTION cardbox.begin_restoring();

-- Locks what an import restores. True: a session that is not whole, of which there is no row; false: one that is
-- there.
CREATE FUNCTION cardbox.lock_restored_session(tenant text, session text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO cardbox.session_remains (tenant_id, session_id, restoring)
    SELECT tenant, session, true
     WHERE NOT EXISTS (SELECT FROM cardbox.sessions s WHERE s.tenant_id = tenant AND s.session_id = session)
    ON CONFLICT DO NOTHING;
    PERFORM FROM cardbox.session_remains r
      WHERE r.tenant_id = tenant AND r.session_id = session AND r.restoring FOR UPDATE;
    IF FOUND THEN
        RETURN true;
    END IF;
    PERFORM FROM cardbox.sessions s
      WHERE s.tenant_id = tenant AND s.session_id = session FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'session % is still being deleted: try again in a moment', session
            USING ERRCODE = 'CB001';
    END IF;
    RETURN false;
END
$$;

-- As in 0017, but that a session that is not there is not created: restore_session does that when all of its lines
-- are there.
CREATE OR REPLACE FUNCTION cardbox.restore_session_lines(
    tenant text, session text, seqs bigint[], ords integer[], ids text[], parents text[], kinds integer[],
    cards text[], befores bytea[], afters bytea[], targets text[], labels json[], lines bytea[],
    rings text[])
RETURNS TABLE (place bigint, outcome integer)
LANGUAGE plpgsql AS $$
DECLARE
    s       record;
    g       record;
    old     record;
    kept    record;
    up      record;
    size    integer;
    taken   boolean;
    parted  boolean := false;
    written bigint := 0;
    added   bigint := 0;
    ringed  boolean := false;
    is_new  boolean;
BEGIN
    is_new := cardbox.lock_restored_session(tenant, session);
    SELECT * INTO s FROM cardbox.sessions x
     WHERE x.tenant_id = tenant AND x.session_id = session;
    FOR g IN
        SELECT u.* FROM unnest(seqs, ords, ids, parents, kinds, cards, befores, afters, targets, labels,
                               lines, rings)
               WITH ORDINALITY AS u(seq, ord, id, parent, kind, card, before, after, target, label, line,
                                    ring, place)
         ORDER BY u.place
    LOOP
        place := g.place;
        outcome := 4;
        SELECT e.entry_id, coalesce(p.entry_id, e.missing) AS parent, e.card_id, e.before, e.after INTO old
          FROM cardbox.session_entries e
          LEFT JOIN cardbox.session_entries p
            ON p.tenant_id = tenant AND p.session_id = session AND p.seq = e.parent_seq
         WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = g.seq AND g.ord = 0;
        SELECT k.bytes, k.ring_id INTO kept FROM cardbox.session_lines k
         WHERE k.tenant_id = tenant AND k.session_id = session AND k.seq = g.seq AND k.ord = g.ord;
        IF parted THEN
            NULL;
        ELSIF old.entry_id IS NOT NULL THEN
            IF (old.entry_id, old.parent, old.card_id, old.before)
               IS NOT DISTINCT FROM (g.id, g.parent, g.card, g.before) THEN
                IF old.after IS NOT DISTINCT FROM g.after THEN
                    outcome := 2;
                ELSIF g.after = old.after || '\x0a' THEN
                    outcome := 3;
                    UPDATE cardbox.session_entries e SET after = g.after
                     WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = g.seq;
                END IF;
            END IF;
        ELSIF kept.bytes IS NOT NULL THEN
            IF g.id IS NULL AND kept.ring_id IS NOT DISTINCT FROM g.ring THEN
                IF kept.bytes = g.line THEN
                    outcome := 2;
                ELSIF g.line = kept.bytes || '\x0a' THEN
                    outcome := 3;
                    UPDATE cardbox.session_lines k SET bytes = g.line
                     WHERE k.tenant_id = tenant AND k.session_id = session AND k.seq = g.seq
                       AND k.ord = g.ord;
                END IF;
            END IF;
        ELSIF g.id IS NULL THEN
            outcome := 1;
            INSERT INTO cardbox.session_lines (tenant_id, session_id, seq, ord, bytes, ring_id)
            VALUES (tenant, session, g.seq, g.ord, g.line, g.ring);
            ringed := ringed OR g.ring IS NOT NULL;
        ELSE
            SELECT octet_length(c.raw::text) INTO size FROM cardbox.cards c
             WHERE c.tenant_id = tenant AND c.card_id = g.card AND c.sealed AND c.deleted_at IS NULL
               AND c.expires_at IS NULL AND json_typeof(c.raw) = 'object'
               AND strpos(c.raw::text, E'\n') = 0
               AND (c.content = 'null' -- written by a session here: a line that was looked at
                    OR (CASE WHEN c.content ->> 'id' IS NULL THEN jsonb_typeof(c.content -> 'type') = 'string'
                             ELSE jsonb_typeof(c.content -> 'id') = 'string' AND c.content ->> 'id' = g.id END
                        AND (c.content ->> 'type' IS DISTINCT FROM 'session' OR c.content ? 'parentId')));
            SELECT e.seq, e.branch, e.depth INTO up FROM cardbox.session_entries e
             WHERE e.tenant_id = tenant AND e.session_key = session AND e.entry_id = g.parent;
            IF size IS NULL THEN
                outcome := 5;
            ELSIF (is_new OR up.seq IS NOT NULL OR coalesce(g.parent, '') = '')
                  AND NOT EXISTS (SELECT FROM cardbox.session_entries e
                                   WHERE e.tenant_id = tenant AND e.session_key = session
                                     AND e.entry_id = g.id) THEN
                outcome := 1;
                taken := up.seq IS NOT NULL AND EXISTS (
                    SELECT FROM cardbox.session_entries e
                     WHERE e.tenant_id = tenant AND e.session_key = session AND e.branch = up.branch
                       AND e.depth = up.depth + 1);
                INSERT INTO cardbox.session_entries (tenant_id, session_id, seq, entry_id, parent_seq,
                       missing, depth, branch, kind, card_id, size, before, after, target, label)
                VALUES (tenant, session, g.seq, g.id, up.seq,
                        CASE WHEN up.seq IS NULL THEN g.parent END, coalesce(up.depth + 1, 0),
                        CASE WHEN taken OR up.seq IS NULL THEN g.seq ELSE up.branch END, g.kind, g.card,
                        size, g.before, g.after, g.target, g.label);
                added := added + 1;
            END IF;
        END IF;
        parted := parted OR outcome = 4;
        IF outcome = 1 THEN
            written := written + 1;
            IF (g.seq, g.ord) > (s.last_seq, s.last_ord) THEN
                s.last_seq := g.seq;
                s.last_ord := g.ord;
            END IF;
        END IF;
        RETURN NEXT;
    END LOOP;
    IF written > 0 AND NOT is_new THEN
        UPDATE cardbox.sessions x
           SET last_seq = s.last_seq, last_ord = s.last_ord, entries = x.entries + added,
               has_rings = x.has_rings OR ringed,
               head_seq = coalesce(x.head_seq, (
                   SELECT max(e.seq) FROM cardbox.session_entries e
                    WHERE e.tenant_id = tenant AND e.session_id = session))
         WHERE x.tenant_id = tenant AND x.session_id = session;
    END IF;
END
$$;

-- As in 0017, but that it creates the session, with all that its lines say, in one transaction.
CREATE OR REPLACE FUNCTION cardbox.restore_session(
    tenant text, session text, given_dialect integer, given_header json, given_name json, source text,
    head text, given_version bigint, created timestamptz, updated timestamptz)
RETURNS integer
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    s      record;
    goal   bigint;
    is_new boolean := cardbox.lock_restored_session(tenant, session);
BEGIN
    IF is_new THEN
        PERFORM set_config('cardbox.restores_session', 'end', true);
        INSERT INTO cardbox.sessions (tenant_id, session_id, last_seq, last_ord, open_end, has_rings, entries,
                                      version, created_at, updated_at)
        SELECT tenant, session, coalesce(max(p.seq), -1), coalesce((array_agg(p.ord))[1], 0), false,
               EXISTS (SELECT FROM cardbox.session_lines l
                        WHERE l.tenant_id = tenant AND l.session_id = session AND l.ring_id IS NOT NULL),
               (SELECT count(*) FROM cardbox.session_entries e
                 WHERE e.tenant_id = tenant AND e.session_id = session),
               0, clock_timestamp(), clock_timestamp()
          FROM (SELECT * FROM (
                    (SELECT e.seq, 0 AS ord FROM cardbox.session_entries e
                      WHERE e.tenant_id = tenant AND e.session_id = session ORDER BY e.seq DESC LIMIT 1)
                    UNION ALL
                    (SELECT l.seq, l.ord FROM cardbox.session_lines l
                      WHERE l.tenant_id = tenant AND l.session_id = session
                      ORDER BY l.seq DESC, l.ord DESC LIMIT 1)) AS m
                 ORDER BY m.seq DESC, m.ord DESC LIMIT 1) AS p;
        PERFORM set_config('cardbox.restores_session', '', true);
    END IF;
    SELECT * INTO s FROM cardbox.sessions x WHERE x.tenant_id = tenant AND x.session_id = session;
    IF s.version >= given_version THEN
        RETURN 2;
    END IF;
    PERFORM cardbox.settle_session(tenant, session); -- parents that stand behind their children
    SELECT e.seq INTO goal FROM cardbox.session_entries e
     WHERE e.tenant_id = tenant AND e.session_key = session AND e.entry_id = head;
    IF goal IS NULL AND head IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'CB002'; -- undoes this block: the session stays invisible
    END IF;
    UPDATE cardbox.sessions x
       SET dialect = given_dialect, header = given_header, name = given_name, forked_from = source,
           head_seq = goal, version = given_version, created_at = coalesce(created, x.created_at),
           updated_at = coalesce(updated, x.updated_at),
           open_end = coalesce((SELECT cardbox.is_open_end(l.bytes)
                                  FROM cardbox.session_line_at(tenant, session, s.last_seq, s.last_ord) AS l),
                               false)
     WHERE x.tenant_id = tenant AND x.session_id = session;
    RETURN CASE WHEN is_new THEN 1 ELSE 3 END;
EXCEPTION WHEN SQLSTATE 'CB002' THEN
    RETURN 4;
END
$$;

-- As in 0036, but that it also deletes what an import that broke off has left of a session.
CREATE OR REPLACE FUNCTION cardbox.delete_session(
    tenant text, session text, most bigint, OUT entries bigint, OUT cards bigint, OUT more boolean)
LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'deleting a session needs the isolation level read committed'
            USING ERRCODE = 'invalid_transaction_state';
    END IF;
    DELETE FROM cardbox.sessions s WHERE s.tenant_id = tenant AND s.session_id = session;
    IF FOUND THEN
        INSERT INTO cardbox.session_remains (tenant_id, session_id) VALUES (tenant, session);
    ELSE
        PERFORM FROM cardbox.session_remains r
          WHERE r.tenant_id = tenant AND r.session_id = session FOR UPDATE;
        IF NOT FOUND THEN
            RETURN;
        END IF;
        UPDATE cardbox.session_remains r SET restoring = false
         WHERE r.tenant_id = tenant AND r.session_id = session AND r.restoring;
    END IF;
    SELECT p.entries, p.cards, p.more INTO entries, cards, more
      FROM cardbox.remove_session_part(tenant, session, most) AS p;
END
$$;

-- As in 0019, but that the parent of the first entry is what the importer says (-1), and not the session's last
-- entry: in a session that is no longer like its file these are two.
CREATE OR REPLACE FUNCTION cardbox.place_entries(
    tenant text, session text, seqs bigint[], parents text[], parent_places integer[], kinds integer[],
    OUT outcomes integer[], OUT branches bigint[], OUT depths integer[], OUT ups bigint[],
    OUT missings text[])
LANGUAGE plpgsql SET plan_cache_mode = auto AS $$
DECLARE
    n         integer := cardinality(seqs);
    first     integer := CASE WHEN kinds[1] < 0 THEN 2 ELSE 1 END;
    taken     boolean[] := array_fill(false, ARRAY[n]); -- it has a first child
    new_taken bigint[] := '{}'; -- the same of entries that are in the session
    up        integer;
    e         record;
BEGIN
    outcomes := array_fill(1, ARRAY[n]);
    branches := seqs;
    depths := array_fill(0, ARRAY[n]);
    ups := array_fill(NULL::bigint, ARRAY[n]);
    missings := array_fill(NULL::text, ARRAY[n]);
    IF first = 2 THEN
        outcomes[1] := 7;
    END IF;
    FOR i IN first .. n LOOP
        up := parent_places[i];
        IF up = -1 AND i > first THEN
            up := i - 1;
        END IF;
        IF up > 0 THEN
            ups[i] := seqs[up];
            depths[i] := depths[up] + 1;
            IF NOT taken[up] THEN
                taken[up] := true;
                branches[i] := branches[up];
            END IF;
            CONTINUE;
        ELSIF up = 0 THEN
            CONTINUE;
        ELSE -- in the session, also of the first line where that goes on from the batch before
            SELECT x.seq, x.branch, x.depth INTO e FROM cardbox.session_entries x
             WHERE x.tenant_id = tenant AND x.session_key = session AND x.entry_id = parents[i];
            IF NOT FOUND AND parents[i] IS NOT NULL THEN
                outcomes[i] := 4;
                missings[i] := parents[i];
            END IF;
        END IF;
        CONTINUE WHEN e.seq IS NULL;
        ups[i] := e.seq;
        depths[i] := e.depth + 1;
        IF e.seq <> ALL (new_taken) AND NOT EXISTS (
               SELECT FROM cardbox.session_entries x
                WHERE x.tenant_id = tenant AND x.session_key = session AND x.branch = e.branch
                  AND x.depth = e.depth + 1) THEN
            branches[i] := e.branch;
        END IF;
        new_taken := new_taken || e.seq;
    END LOOP;
END
$$;

REVOKE EXECUTE ON FUNCTION cardbox.card_is_used, cardbox.begin_restoring, cardbox.lock_restored_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.card_is_used, cardbox.lock_restored_session TO cardbox_service, cardbox_worker;
