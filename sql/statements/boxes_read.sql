-- Reads boxes of one or more tenants: all ids, or the ids or cards of a range, now or at an earlier time. The arrays
-- are parallel: one element for each box.
-- $1 text[]         tenants
-- $2 uuid[]         boxes
-- $3 int4[]         sum of: 1 the ids of the range, 2 the cards of the range, 4 all ids
-- $4 int8[]         range: number of ids at the end of the list; NULL: $5 and $6 define the range
-- $5 int8[]         range: first position, from 0
-- $6 int8[]         range: maximum number of ids; NULL: to the end of the list
-- $7 int8[]         version of the box to read; NULL: the current version
-- $8 int8[]         read only this number of ids from the start of the current list; NULL: all
-- $9 timestamptz[]  time at which the box had the list to read; NULL: now
--
-- Rows can be in any order, but are usually ordered by kind. Kind 0 is a box that exists and has the version, length or
-- time to read. Kind 1 is a segment of ids that begins at position pos. A segment may begin before the range and end
-- after the range. Kind 2 is the card at position pos. In a row of kind 2 the content is NULL if there is no readable
-- card with this id.
--
-- The columns are those of enum box_column in the C code. Each column costs time for each card. So there are few
-- columns, and the rows of kinds 0 and 1 store their values in the columns of a card.
WITH box AS (
    SELECT * FROM cardbox.box_read_ranges($1::text[], $2::uuid[], $3::int4[], $4::int8[], $5::int8[], $6::int8[],
                                          $7::int8[], $8::int8[], $9::timestamptz[])
), segment AS (
    SELECT b.ord, b.parts, b.tenant_id, b.first, b.before, s.start, s.card_ids
      FROM box b
     CROSS JOIN LATERAL cardbox.box_segments(b.tenant_id, b.chain_id, b.own_from, b.ids_first, b.ids_before,
                                             b.tail_start, b.tail) AS s
)
SELECT b.ord, 0 AS kind, b.version AS pos, b.length, b.first, b.before,
       NULL::text AS card_id, NULL::json AS content, NULL::jsonb AS tool_calls, NULL::text AS tool_call_id,
       NULL::int4 AS ttl_seconds, b.updated_at AS expires_at, b.parent_ids AS metadata, b.created_at,
       b.sealed
  FROM box b
UNION ALL
SELECT s.ord, 1, s.start, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, s.card_ids, NULL, NULL
  FROM segment s WHERE s.parts & 5 <> 0
UNION ALL
SELECT s.ord, 2, s.start + e.ord - 1, NULL, NULL, NULL, e.id, c.content,
       c.tool_calls, c.tool_call_id, c.ttl_seconds, c.expires_at, c.metadata, c.created_at, c.sealed
  FROM segment s
 CROSS JOIN LATERAL jsonb_array_elements_text(s.card_ids) WITH ORDINALITY AS e(id, ord)
  LEFT JOIN LATERAL ( -- test_plans.py test_plans_of_empty_tables: LIMIT 1 prevents a hash of all cards
        SELECT * FROM cardbox.cards x
         WHERE x.tenant_id = s.tenant_id AND x.card_id = e.id COLLATE "C" AND x.deleted_at IS NULL
           AND (x.expires_at IS NULL OR x.expires_at > statement_timestamp())
         LIMIT 1) AS c ON true
 WHERE s.parts & 2 <> 0 AND s.start + e.ord - 1 >= s.first AND s.start + e.ord - 1 < s.before
