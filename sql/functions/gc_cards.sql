-- gc_cards: part of gc_batch(): removes dead cards with their revisions, namely those that have
-- expired, and deleted ones after the retention. A card that something still uses is kept as a deleted
-- one, and is looked at again a day and the retention later. No program makes such a card. Locked rows
-- are skipped and do not count for the limit: the collector waits for nobody, so it can't be part of a
-- deadlock. Each kind is read in the order of its index, else a batch read all cards.
CREATE OR REPLACE FUNCTION cardbox.gc_cards(INOUT done cardbox.gc_totals, retention bigint)
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    used   bigint;
    cutoff timestamptz := clock_timestamp() - make_interval(secs => retention);
BEGIN
    WITH expired AS MATERIALIZED (
        SELECT c.tenant_id, c.card_id, c.ctid AS place FROM cardbox.cards c
         WHERE c.expires_at <= statement_timestamp()
         ORDER BY c.expires_at LIMIT done.room FOR UPDATE SKIP LOCKED
    ), deleted AS MATERIALIZED (
        SELECT c.tenant_id, c.card_id, c.ctid AS place FROM cardbox.cards c
         WHERE c.deleted_at <= cutoff
         ORDER BY c.deleted_at LIMIT done.room FOR UPDATE SKIP LOCKED
    ), locked AS MATERIALIZED (
        SELECT d.tenant_id, d.card_id, d.place, cardbox.card_is_used(d.tenant_id, d.card_id) AS used
          FROM (SELECT * FROM expired UNION SELECT * FROM deleted LIMIT done.room) AS d
    ), kept AS ( -- else each batch would look at them first, and come no further
        UPDATE cardbox.cards c SET expires_at = NULL, deleted_at = clock_timestamp() + interval '1 day'
         WHERE c.ctid = ANY (ARRAY (SELECT k.place FROM locked k WHERE k.used))
        RETURNING 1
    ), removed AS ( -- by place, which is fixed while it is locked: a join might read the whole table
        DELETE FROM cardbox.cards c WHERE c.ctid = ANY (ARRAY (SELECT k.place FROM locked k WHERE NOT k.used))
        RETURNING cardbox.card_bytes(c.content, c.metadata) AS bytes
    ), unrevised AS (
        DELETE FROM cardbox.card_revisions r
         WHERE r.ctid = ANY (ARRAY (
                SELECT v.place FROM locked k
                 CROSS JOIN LATERAL (
                        SELECT x.ctid AS place FROM cardbox.card_revisions x
                         WHERE x.tenant_id = k.tenant_id AND x.card_id = k.card_id
                        OFFSET 0) AS v
                 WHERE NOT k.used))
        RETURNING cardbox.card_bytes(r.content, r.metadata) AS bytes
    )
    SELECT (SELECT count(*) FROM removed), (SELECT coalesce(sum(r.bytes), 0) FROM removed r),
           (SELECT count(*) FROM unrevised), (SELECT coalesce(sum(u.bytes), 0) FROM unrevised u),
           (SELECT count(*) FROM kept)
      INTO done.cards, done.card_bytes, done.revisions, done.revision_bytes, used;
    done.room := done.room - done.cards - used;
END
$$;
