-- Reads boxes of one or more tenants: all ids, or the ids or cards of a range, now or at an earlier time. The arrays
-- are parallel: one element for each box.
-- $1 text[]         tenants
-- $2 uuid[]         boxes
-- $3 int4[]         sum of: 1 the ids of the range, 2 the cards of the range, 4 all ids
-- $4 int8[]         range: the last ids, this number of them; NULL: $5 and $6 define the range
-- $5 int8[]         range: first position, from 0
-- $6 int8[]         range: maximum number of ids; NULL: to the end
-- $7 int8[]         the box at this version; NULL: the current one
-- $8 int8[]         the box with this number of ids of the current list; NULL: all
-- $9 timestamptz[]  the box at this time; NULL: now
--
-- Rows come in any order, but mostly ordered by kind. Kind 0 is a box that exists. Kind 1 is a segment of ids that
-- begins at pos; it may begin before the range and end after it. Kind 2 is the card at pos; its content is NULL if
-- there is no readable card.
--
-- The columns are those of enum box_column in the C code. Each column costs time for each card. So there are as few
-- as possible, and the rows of kinds 0 and 1 use the columns of a card.
WITH wanted AS (
    SELECT * FROM cardbox.box_ranges($1::text[], $2::uuid[], $3::int4[], $4::int8[], $5::int8[], $6::int8[],
                                       $7::int8[], $8::int8[], $9::timestamptz[])
), runs AS (
    SELECT w.ord, w.want, w.tenant_id, w.first, w.before, s.start, s.card_ids
      FROM wanted w
     CROSS JOIN LATERAL (
        SELECT p.start, p.card_ids
          FROM cardbox.chain_segments(w.tenant_id, w.chain_id, w.own_from, w.ids_first,
                                      w.ids_before) AS p
        UNION ALL
        SELECT w.tail_start, w.tail
         WHERE w.tail <> '[]' AND w.tail_start < w.ids_before) AS s
)
SELECT w.ord, 0 AS kind, w.version AS pos, w.length, w.first, w.before,
       NULL::text AS card_id, NULL::json AS content, NULL::jsonb AS tool_calls, NULL::text AS tool_call_id,
       NULL::int4 AS ttl_seconds, w.updated_at AS expires_at, w.parent_ids AS metadata, w.created_at,
       NULL::bool AS sealed
  FROM wanted w
UNION ALL
SELECT r.ord, 1, r.start, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, r.card_ids, NULL, NULL
  FROM runs r WHERE r.want & 5 <> 0
UNION ALL
SELECT r.ord, 2, r.start + e.place - 1, NULL, NULL, NULL, e.id, c.content,
       c.tool_calls, c.tool_call_id, c.ttl_seconds, c.expires_at, c.metadata, c.created_at, c.sealed
  FROM runs r
 CROSS JOIN LATERAL jsonb_array_elements_text(r.card_ids) WITH ORDINALITY AS e(id, place)
  LEFT JOIN LATERAL ( -- test_plans.py test_plans_of_empty_tables: a plan that hashes all cards may be kept
        SELECT * FROM cardbox.cards x
         WHERE x.tenant_id = r.tenant_id AND x.card_id = e.id COLLATE "C" AND x.deleted_at IS NULL
           AND (x.expires_at IS NULL OR x.expires_at > statement_timestamp())
         LIMIT 1) AS c ON true
 WHERE r.want & 2 <> 0 AND r.start + e.place - 1 >= r.first AND r.start + e.place - 1 < r.before
