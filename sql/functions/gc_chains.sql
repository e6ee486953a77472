-- gc_chains: part of gc_batch(): removes what nobody can read of orphaned chains. An orphan
-- that others continue is left, and counts as one row, so that a batch which meets only such
-- orphans still says `more`.
CREATE OR REPLACE FUNCTION cardbox.gc_chains(INOUT done cardbox.gc_totals)
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
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
            done.room := done.room - 1;
            EXIT WHEN done.room <= 0;
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
