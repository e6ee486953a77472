-- Removes a batch of what is dead, of all tenants. One row: whether another collector is at work, whether
-- there may be more, how many rows the batch could still have taken before it came to sessions, then rows
-- and bytes of each kind.
-- $1 int8  retention of what was deleted, in seconds
-- $2 int8  most rows in this batch
SELECT c.busy, c.more OR s.more, c.room, c.cards, c.card_bytes, c.revisions,
       c.revision_bytes, c.boxes, c.box_bytes, c.changes, c.change_bytes, c.segments, c.segment_bytes,
       c.chains, c.chain_bytes, s.entries, s.entry_bytes
  FROM cardbox.collect($1::int8, $2::int8) AS c
 CROSS JOIN LATERAL cardbox.collect_sessions(CASE WHEN c.busy THEN 0 ELSE c.room END) AS s
