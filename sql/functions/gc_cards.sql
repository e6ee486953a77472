-- gc_cards: removes expired cards, and cards that were deleted longer ago than the retention, together with their
-- revisions. Part of gc_batch(). If a message refers to an expired or deleted card, the card stays, marked as deleted,
-- and is not examined again for a day plus the retention. The functions of CardBox prevent this case. The function does
-- not wait for cards that another transaction has locked: it skips them. Expired and deleted cards are read in the
-- order of their indexes; otherwise PostgreSQL would read all cards for each batch.
CREATE OR REPLACE FUNCTION cardbox.gc_cards(INOUT totals cardbox.gc_totals, retention bigint)
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    used   bigint;
    cutoff timestamptz := clock_timestamp() - make_interval(secs => retention);
BEGIN
    WITH expired AS (
        SELECT c.tenant_id, c.card_id, c.ctid AS tid FROM cardbox.cards c
         WHERE c.expires_at <= statement_timestamp()
         ORDER BY c.expires_at LIMIT totals.rows_left FOR UPDATE SKIP LOCKED
    ), deleted AS (
        SELECT c.tenant_id, c.card_id, c.ctid AS tid FROM cardbox.cards c
         WHERE c.deleted_at <= cutoff
         ORDER BY c.deleted_at LIMIT totals.rows_left FOR UPDATE SKIP LOCKED
    ), locked AS (
        SELECT d.tenant_id, d.card_id, d.tid, cardbox.card_is_used(d.tenant_id, d.card_id) AS used
          FROM (SELECT * FROM expired UNION SELECT * FROM deleted LIMIT totals.rows_left) AS d
    ), kept AS ( -- without this update each batch would examine these cards first, and perhaps no others
        UPDATE cardbox.cards c SET expires_at = NULL, deleted_at = clock_timestamp() + interval '1 day'
         WHERE c.ctid = ANY (ARRAY (SELECT k.tid FROM locked k WHERE k.used))
        RETURNING 1
    ), removed AS ( -- by ctid, which is stable while the row is locked; a join by the key may read the whole table
        DELETE FROM cardbox.cards c WHERE c.ctid = ANY (ARRAY (SELECT k.tid FROM locked k WHERE NOT k.used))
        RETURNING cardbox.card_bytes(c.content, c.metadata) AS bytes
    ), unrevised AS (
        DELETE FROM cardbox.card_revisions r
         WHERE r.ctid = ANY (ARRAY (
                SELECT v.tid FROM locked k
                 CROSS JOIN LATERAL (
                        SELECT x.ctid AS tid FROM cardbox.card_revisions x
                         WHERE x.tenant_id = k.tenant_id AND x.card_id = k.card_id
                         ORDER BY x.revision) AS v
                 WHERE NOT k.used))
        RETURNING cardbox.card_bytes(r.content, r.metadata) AS bytes
    )
    SELECT (SELECT count(*) FROM removed), (SELECT coalesce(sum(r.bytes), 0) FROM removed r),
           (SELECT count(*) FROM unrevised), (SELECT coalesce(sum(u.bytes), 0) FROM unrevised u),
           (SELECT count(*) FROM kept)
      INTO totals.cards, totals.card_bytes, totals.revisions, totals.revision_bytes, used;
    totals.rows_left := totals.rows_left - totals.cards - used;
END
$$;
