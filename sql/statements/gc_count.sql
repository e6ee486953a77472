-- What batches of collect would remove in all, in the same columns.
-- $1 int8  retention of what was deleted, in seconds
SELECT c.busy, c.more, c.room, c.cards, c.card_bytes, c.revisions,
       c.revision_bytes, c.boxes, c.box_bytes, c.changes, c.change_bytes, c.segments, c.segment_bytes,
       c.chains, c.chain_bytes, s.entries, s.entry_bytes
  FROM cardbox.gc_count($1::int8) AS c CROSS JOIN cardbox.gc_count_sessions() AS s
