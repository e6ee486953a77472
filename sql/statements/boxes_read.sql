-- Boxes: their ids, their cards, or both, whole or in part, now or as of an earlier moment; for one
-- tenant or several at once. Arrays are parallel, one element a box.
-- $1 text[]  tenants
-- $2 uuid[]  box ids
-- $3 int4[]  what is wanted: 1 the ids of the range, 2 the cards of the range, 4 all ids
-- $4 int8[]  range: only the last n ids; NULL: by $5 and $6
-- $5 int8[]  range: from this position, 0 is the first
-- $6 int8[]  range: at most so many; NULL: to the end
-- $7 int8[]  as of this version; $8 int8[] with the first n ids of the present list;
-- $9 timestamptz[]  as of this moment; NULL: not so
-- Rows come in any order, but mostly kind by kind. kind 0: one a box that exists; kind 1: a run of ids
-- that begins at pos and may reach beyond the range; kind 2: the card at pos (content null: not readable).
-- The columns are those of enum box_column in the C code. There are as few as can be, since each costs
-- PostgreSQL, libpq and us something for each card: a box and a run use those of a card.
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
