-- gc_chains: removes the segments of orphaned chains that no box can read any more. Part of gc_batch(). An orphan stays
-- while other chains continue it, because they read its segments. Each examined orphan counts as a row, so that the
-- batch is limited even if it finds only orphans that stay.
CREATE OR REPLACE FUNCTION cardbox.gc_chains(INOUT totals cardbox.gc_totals)
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    orphan  record;
    gone    record;
    ceiling bigint; -- other chains read the positions of this chain below the ceiling; NULL: no other chain does
BEGIN
    FOR orphan IN
        SELECT o.tenant_id, o.chain_id FROM cardbox.card_box_orphans o WHERE o.due LIMIT totals.rows_left
    LOOP
        EXIT WHEN totals.rows_left <= 0;
        SELECT max(c.parent_length) INTO ceiling FROM cardbox.card_box_chains c
         WHERE c.tenant_id = orphan.tenant_id AND c.parent_chain_id = orphan.chain_id;
        WITH removed AS (
            DELETE FROM cardbox.card_box_segments s
             WHERE s.ctid = ANY (ARRAY (SELECT x.ctid FROM cardbox.card_box_segments x
                                         WHERE x.tenant_id = orphan.tenant_id
                                           AND x.chain_id = orphan.chain_id
                                           AND x.start >= coalesce(ceiling, 0)
                                         ORDER BY x.start LIMIT totals.rows_left))
            RETURNING pg_column_size(s.card_ids) AS bytes
        )
        SELECT count(*) AS segments, coalesce(sum(r.bytes), 0) AS bytes INTO gone FROM removed r;
        totals.segments := totals.segments + gone.segments;
        totals.segment_bytes := totals.segment_bytes + gone.bytes;
        totals.rows_left := totals.rows_left - gone.segments;
        EXIT WHEN totals.rows_left <= 0; -- a later batch continues with this chain
        totals.rows_left := totals.rows_left - 1;
        IF ceiling IS NOT NULL THEN
            UPDATE cardbox.card_box_orphans o SET due = false
             WHERE o.tenant_id = orphan.tenant_id AND o.chain_id = orphan.chain_id;
            CONTINUE;
        END IF;
        DELETE FROM cardbox.card_box_chains c
         WHERE c.tenant_id = orphan.tenant_id AND c.chain_id = orphan.chain_id
        RETURNING c.parent_chain_id, pg_column_size(c.*) AS bytes INTO gone;
        IF FOUND THEN
            totals.chains := totals.chains + 1;
            totals.chain_bytes := totals.chain_bytes + gone.bytes;
            UPDATE cardbox.card_box_orphans o SET due = true
             WHERE o.tenant_id = orphan.tenant_id AND o.chain_id = gone.parent_chain_id;
            totals.more := totals.more OR FOUND;
        END IF;
        DELETE FROM cardbox.card_box_orphans o
         WHERE o.tenant_id = orphan.tenant_id AND o.chain_id = orphan.chain_id;
    END LOOP;
END
$$;
