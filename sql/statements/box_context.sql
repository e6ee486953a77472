-- Reads the cards of a box for a context. The rows are those of boxes_read for cards. If the cards exceed the size $10,
-- or the range does not fulfil $11, only the box's row of kind 0 is returned.
-- $1 to $9  as in boxes_read; $3 is 2 or 0
-- $10 int8  maximum total size of the cards in bytes, uncompressed
-- $11 bool  whether the range must reach the end of the box's list
WITH box AS (
    SELECT * FROM cardbox.box_ranges($1::text[], $2::uuid[], $3::int4[], $4::int8[], $5::int8[], $6::int8[],
                                     $7::int8[], $8::int8[], $9::timestamptz[])
), segment AS (
    SELECT b.ord, b.parts, b.tenant_id, b.first, b.before, s.start, s.card_ids
      FROM box b
     CROSS JOIN LATERAL cardbox.box_segments(b.tenant_id, b.chain_id, b.own_from, b.ids_first, b.ids_before,
                                             b.tail_start, b.tail) AS s
     WHERE NOT $11::bool OR b.before >= b.length
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
