-- Removing what is dead: cards that have expired or were deleted, boxes that were deleted, and the
-- pieces of boxes that nothing can reach any more; in batches, in transactions of their own.
--
-- What can reach a segment. A chain belongs to one box: the one that it was made for, by its creation,
-- a fork or a replace. Its segments are read through that box's head, through that box's log, and
-- through the chains that continue it, which are those of forks. So when a box goes, its chains become
-- orphans: of an orphan only that part is needed that lies below the largest parent_length of the
-- chains that continue it, and when none does, nothing. An orphan that is gone continues no other, and
-- so its parent, if that is an orphan, is looked at again.
--
-- Why that is right while others write. The one thing that could make a dead chain needed again is a
-- fork, which reads the parent's head, and whose row in card_box_chains is seen by nobody before it
-- commits.
--   * fork_box locks the parent's head FOR KEY SHARE, as a foreign key would, until its transaction
--     ends; the collector locks a dead box's head FOR UPDATE before it makes orphans, and skips one that
--     it does not get at once. These two locks exclude each other.
--   * If the fork was first, the box is left for a later batch, and by then the fork's chain is seen or
--     will never be. If the collector was first, the fork waits, and then finds the box deleted or gone.
--   * Orphans are looked at by statements that begin after that lock was got, each with a snapshot of
--     its own (READ COMMITTED, which is checked): so they see every chain that continues the orphan.
--     From then on there can be no new one, since its box is gone.
--   * Appends and replaces lock their box's head and want one that is not deleted; they write to chains
--     of that box only, which are no orphans while it lives.
--   * Readers see what their snapshot has, removed since or not.
--   * A box may be made anew under the id of one that is gone: its chain is a new one, never the old.
--   * One collector works at a time, by an advisory lock of its transaction, which also holds behind a
--     pooler; were there two, the row locks alone would keep them apart, but they would wait.
CREATE TABLE cardbox.card_box_orphans (
    tenant_id text COLLATE "C" NOT NULL,
    chain_id  uuid NOT NULL,
    due       boolean NOT NULL DEFAULT true, -- false: nothing to be done before a continuation goes
    PRIMARY KEY (tenant_id, chain_id)
);
CREATE INDEX card_box_orphans_due ON cardbox.card_box_orphans (tenant_id, chain_id) WHERE due;
CREATE INDEX card_boxes_by_deletion ON cardbox.card_boxes (deleted_at) WHERE deleted_at IS NOT NULL;

ALTER TABLE cardbox.card_box_orphans ENABLE ROW LEVEL SECURITY;
ALTER TABLE cardbox.card_box_orphans FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON cardbox.card_box_orphans TO cardbox_service USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON cardbox.card_box_orphans TO cardbox_service;

-- How much of each kind: rows, and the bytes of what they hold.
CREATE TYPE cardbox.collected AS (
    busy     boolean, -- another collector is at work: nothing was done
    more     boolean, -- there may be more
    room     bigint,  -- rows that the batch could still have taken
    cards    bigint, card_bytes     bigint,
    revisions bigint, revision_bytes bigint,
    boxes    bigint, box_bytes      bigint,
    changes  bigint, change_bytes   bigint, -- of the boxes' logs
    segments bigint, segment_bytes  bigint,
    chains   bigint, chain_bytes    bigint
);

CREATE FUNCTION cardbox.card_bytes(content jsonb, raw json, metadata jsonb) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT (coalesce(pg_column_size(content), 0) + coalesce(pg_column_size(raw), 0)
            + coalesce(pg_column_size(metadata), 0))::bigint
$$;

-- Removes up to `room` dead cards: expired ones, and deleted ones after the retention, with their
-- revisions, of which a card has one for each repair. What somebody holds is left for later: the
-- collector waits for nobody, and so can't be part of a deadlock.
CREATE FUNCTION cardbox.collect_cards(INOUT done cardbox.collected, retention bigint)
LANGUAGE plpgsql AS $$
DECLARE
    cutoff timestamptz := clock_timestamp() - make_interval(secs => retention);
BEGIN
    WITH dead AS (
        (SELECT c.tenant_id, c.card_id FROM cardbox.cards c
          WHERE c.expires_at <= statement_timestamp() LIMIT done.room)
        UNION
        (SELECT c.tenant_id, c.card_id FROM cardbox.cards c WHERE c.deleted_at <= cutoff LIMIT done.room)
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

-- Removes deleted boxes after the retention: their logs, up to `room` rows in all, then their heads; and
-- makes orphans of their chains.
CREATE FUNCTION cardbox.collect_boxes(INOUT done cardbox.collected, retention bigint)
LANGUAGE plpgsql AS $$
DECLARE
    box   record;
    gone record;
BEGIN
    FOR box IN
        SELECT b.tenant_id, b.box_id, b.chain_id, pg_column_size(b.*) AS bytes
          FROM cardbox.card_boxes b
         WHERE b.deleted_at <= clock_timestamp() - make_interval(secs => retention)
         ORDER BY b.deleted_at LIMIT done.room FOR UPDATE SKIP LOCKED
    LOOP
        WITH removed AS (
            DELETE FROM cardbox.card_box_log l
             WHERE l.tenant_id = box.tenant_id AND l.box_id = box.box_id
               AND l.version IN (SELECT x.version FROM cardbox.card_box_log x
                                  WHERE x.tenant_id = box.tenant_id AND x.box_id = box.box_id
                                  ORDER BY x.version LIMIT done.room)
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

-- Removes what nobody can reach of orphans, up to `room` segments and chains in all.
CREATE FUNCTION cardbox.collect_chains(INOUT done cardbox.collected)
LANGUAGE plpgsql AS $$
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
             WHERE s.tenant_id = orphan.tenant_id AND s.chain_id = orphan.chain_id
               AND s.start IN (SELECT x.start FROM cardbox.card_box_segments x
                                WHERE x.tenant_id = orphan.tenant_id
                                  AND x.chain_id = orphan.chain_id
                                  AND x.start >= coalesce(ceiling, 0)
                                ORDER BY x.start LIMIT done.room)
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

-- One batch: at most `most` rows, revisions not counted.
CREATE FUNCTION cardbox.collect(retention bigint, most bigint) RETURNS cardbox.collected
LANGUAGE plpgsql AS $$
DECLARE
    done cardbox.collected := (false, false, most, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'collecting needs the isolation level read committed'
            USING ERRCODE = 'invalid_transaction_state';
    END IF;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('cardbox.collect', 0)) THEN
        done.busy := true;
        RETURN done;
    END IF;
    done := cardbox.collect_cards(done, retention);
    IF done.room > 0 THEN
        done := cardbox.collect_boxes(done, retention);
    END IF;
    IF done.room > 0 THEN
        done := cardbox.collect_chains(done);
    END IF;
    done.more := done.more OR done.room <= 0;
    RETURN done;
END
$$;

-- What batches of collect would remove in all, if nobody wrote meanwhile. Reads no more than that, and
-- changes nothing.
CREATE FUNCTION cardbox.collectable(retention bigint) RETURNS cardbox.collected
LANGUAGE sql STABLE AS $$
    WITH RECURSIVE cutoff AS (
        SELECT statement_timestamp() - make_interval(secs => retention) AS moment
    ), dead_cards AS (
        SELECT c.tenant_id, c.card_id, cardbox.card_bytes(c.content, c.raw, c.metadata) AS bytes
          FROM cardbox.cards c
         WHERE c.expires_at <= statement_timestamp()
            OR c.deleted_at <= (SELECT moment FROM cutoff)
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

REVOKE EXECUTE ON FUNCTION cardbox.card_bytes, cardbox.collect_cards, cardbox.collect_boxes,
    cardbox.collect_chains, cardbox.collect, cardbox.collectable FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.card_bytes, cardbox.collect_cards, cardbox.collect_boxes,
    cardbox.collect_chains, cardbox.collect, cardbox.collectable TO cardbox_service;
