-- gc_boxes: part of gc_batch(): removes deleted boxes after the retention, their logs first,
-- then their heads, and makes orphans of their chains. Of a long log no more is read than is
-- removed. No sequential and bitmap scans: without statistics PostgreSQL read all boxes for the few
-- dead ones.
CREATE OR REPLACE FUNCTION cardbox.gc_boxes(INOUT done cardbox.gc_totals, retention bigint)
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
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
