-- Reads the cards of one or more boxes for a context. The rows are those of the kinds 0 (boxes) and 2 (cards) in
-- boxes_read. If there are too many cards ($11) or too many bytes ($10), only the rows of kind 0 are returned.
-- $1 to $9  as in boxes_read; $3 is 2 or 0. The boxes are in the order of the context
-- $10 int8  maximum total size of the cards in bytes, uncompressed
-- $11 int8  maximum number of cards
-- $12 bool  true: if there are more than $11 cards, the last $11 cards are returned, and the rows of kind 0 have the
--           ranges of these cards
WITH box AS (
    SELECT r.ord, r.parts, r.tenant_id, r.parent_ids, r.created_at, r.version, r.chain_id, r.own_from, r.length,
           r.updated_at, r.tail, r.tail_start, r.before,
           CASE WHEN $12::bool THEN r.before - greatest(least(r.before - r.first, $11::int8 - r.later), 0)
                ELSE r.first END AS first
      FROM (SELECT q.*, coalesce(sum(q.before - q.first) OVER (ORDER BY q.ord DESC ROWS BETWEEN UNBOUNDED PRECEDING
                                                               AND 1 PRECEDING), 0)::int8 AS later
              FROM cardbox.box_read_ranges($1::text[], $2::uuid[], $3::int4[], $4::int8[], $5::int8[], $6::int8[],
                                            $7::int8[], $8::int8[], $9::timestamptz[]) AS q) AS r
), segment AS (
    SELECT b.ord, b.parts, b.tenant_id, b.first, b.before, s.start, s.card_ids
      FROM box b
     CROSS JOIN LATERAL cardbox.box_segments(b.tenant_id, b.chain_id, b.own_from, b.first, b.before,
                                             b.tail_start, b.tail) AS s
     WHERE $11::int8 >= (SELECT sum(t.before - t.first) FROM box t)
), found AS (
    SELECT s.ord, s.start + e.ord - 1 AS pos, e.id, c.content, c.tool_calls, c.tool_call_id, c.ttl_seconds,
           c.expires_at, c.metadata, c.created_at, c.sealed
      FROM segment s
     CROSS JOIN LATERAL jsonb_array_elements_text(s.card_ids) WITH ORDINALITY AS e(id, ord)
      LEFT JOIN LATERAL ( -- test_plans.py test_plans_of_empty_tables: LIMIT 1 prevents a hash of all cards
        SELECT * FROM cardbox.cards x
         WHERE x.tenant_id = s.tenant_id AND x.card_id = e.id COLLATE "C" AND x.deleted_at IS NULL
           AND (x.expires_at IS NULL OR x.expires_at > statement_timestamp())
         LIMIT 1) AS c ON true
     WHERE s.parts & 2 <> 0 AND s.start + e.ord - 1 >= s.first AND s.start + e.ord - 1 < s.before
)
SELECT b.ord, 0 AS kind, b.version AS pos, b.length, b.first, b.before,
       NULL::text AS card_id, NULL::json AS content, NULL::jsonb AS tool_calls, NULL::text AS tool_call_id,
       NULL::int4 AS ttl_seconds, b.updated_at AS expires_at, b.parent_ids AS metadata, b.created_at,
       NULL::bool AS sealed
  FROM box b
UNION ALL
SELECT f.ord, 2, f.pos, NULL, NULL, NULL, f.id, f.content, f.tool_calls,
       f.tool_call_id, f.ttl_seconds, f.expires_at, f.metadata, f.created_at, f.sealed
  FROM found f
 WHERE $10::int8 >= (SELECT sum(coalesce(octet_length(t.content::text), 0)::int8
                                + coalesce(pg_column_size(t.tool_calls #> '{}'), 0)
                                + coalesce(pg_column_size(t.metadata #> '{}'), 0)) FROM found t)
