-- gc_boxes: removes boxes that were deleted longer ago than the retention: first the rows of a box in card_box_log,
-- then its row in card_boxes. The chains of removed boxes become orphans. Part of gc_batch(). The function reads no
-- more rows of a long log than it removes. Sequential and bitmap scans are off: without statistics PostgreSQL would
-- read all boxes to find the few deleted ones.
CREATE OR REPLACE FUNCTION cardbox.gc_boxes(INOUT totals cardbox.gc_totals, retention bigint)
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
         ORDER BY b.deleted_at LIMIT totals.rows_left FOR UPDATE SKIP LOCKED
    LOOP
        WITH removed AS (
            DELETE FROM cardbox.card_box_log l
             WHERE l.ctid = ANY (ARRAY (SELECT x.ctid FROM cardbox.card_box_log x
                                         WHERE x.tenant_id = box.tenant_id AND x.box_id = box.box_id
                                         ORDER BY x.version LIMIT totals.rows_left))
            RETURNING l.chain_id, pg_column_size(l.*) AS bytes
        ), orphaned AS (
            INSERT INTO cardbox.card_box_orphans (tenant_id, chain_id)
            SELECT DISTINCT box.tenant_id, r.chain_id FROM removed r
            ON CONFLICT DO NOTHING
        )
        SELECT count(*) AS changes, coalesce(sum(r.bytes), 0) AS bytes INTO gone FROM removed r;
        totals.changes := totals.changes + gone.changes;
        totals.change_bytes := totals.change_bytes + gone.bytes;
        totals.rows_left := totals.rows_left - gone.changes;
        EXIT WHEN totals.rows_left <= 0; -- a later batch continues with this box
        INSERT INTO cardbox.card_box_orphans (tenant_id, chain_id)
        VALUES (box.tenant_id, box.chain_id) ON CONFLICT DO NOTHING;
        DELETE FROM cardbox.card_boxes b
         WHERE b.tenant_id = box.tenant_id AND b.box_id = box.box_id;
        totals.boxes := totals.boxes + 1;
        totals.box_bytes := totals.box_bytes + box.bytes;
        totals.rows_left := totals.rows_left - 1;
        EXIT WHEN totals.rows_left <= 0;
    END LOOP;
END
$$;
