-- Garbage collection for all tenants: deletes one batch of rows that were deleted longer ago than the
-- retention, or that nothing uses. Returns one row: whether another session runs gc, whether more rows may
-- be left, and how many rows of the batch were left for sessions. Then follow the rows and bytes of each
-- kind.
-- $1 int8  retention of deleted cards and boxes, in seconds
-- $2 int8  maximum number of rows in this batch
SELECT c.busy, c.more OR s.more, c.room, c.cards, c.card_bytes, c.revisions,
       c.revision_bytes, c.boxes, c.box_bytes, c.changes, c.change_bytes, c.segments, c.segment_bytes,
       c.chains, c.chain_bytes, s.entries, s.entry_bytes
  FROM cardbox.gc_batch($1::int8, $2::int8) AS c
 CROSS JOIN LATERAL cardbox.gc_sessions(CASE WHEN c.busy THEN 0 ELSE c.room END) AS s
