-- Appends ids to boxes where nothing is in the way: a row each that was appended to, as boxes_append
-- gives. No row: something is (no such box, another version, a key that was used, a tail that gets
-- full, a lock of others, who are not waited for), and box_append says what. Each box once. An append
-- by this costs PostgreSQL half of one by the function, and less than half of that in company.
-- The log goes first, since a key that was used is found by the index as its row is written: a look for
-- it beforehand could be planned as one through the box's whole log. What it says of the box is what the
-- lock has seen, and so is what the update meets.
-- $1 text[] tenants, $2 uuid[] boxes, $3 jsonb[] ids, $4 int8[] expected versions or NULL,
-- $5 text[] keys or NULL. $1 stands in a SELECT of its own: see cards_get.
WITH locked AS (
    SELECT u.ord, u.ids, u.key, h.*
      FROM unnest((SELECT $1::text[]), $2::uuid[], $3::jsonb[], $4::int8[], $5::text[])
           WITH ORDINALITY AS u(tenant_id, box_id, ids, expected, key, ord)
     CROSS JOIN LATERAL (
            SELECT b.tenant_id, b.box_id, b.chain_id, b.version + 1 AS version,
                   b.length + jsonb_array_length(u.ids) AS length,
                   greatest(clock_timestamp(), b.updated_at) AS at
              FROM cardbox.card_boxes b
             WHERE b.tenant_id = u.tenant_id COLLATE "C" AND b.box_id = u.box_id
               AND b.deleted_at IS NULL AND (u.expected IS NULL OR b.version = u.expected)
               AND b.length % 64 + jsonb_array_length(u.ids) < 64
               FOR NO KEY UPDATE SKIP LOCKED) AS h
), logged AS (
    INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added,
                                      append_key, request_digest, at)
    SELECT k.tenant_id, k.box_id, k.version, 'append', k.chain_id, k.length,
           jsonb_array_length(k.ids), k.key,
           CASE WHEN k.key IS NOT NULL THEN sha256(convert_to(k.ids::text, 'UTF8')) END, k.at
      FROM locked k
        ON CONFLICT (tenant_id, box_id, append_key) WHERE append_key IS NOT NULL DO NOTHING
    RETURNING tenant_id, box_id, version, length, at
)
UPDATE cardbox.card_boxes b
   SET tail = b.tail || k.ids, length = l.length, version = l.version, updated_at = l.at
  FROM logged l
  JOIN locked k ON k.tenant_id = l.tenant_id AND k.box_id = l.box_id
 WHERE b.tenant_id = l.tenant_id AND b.box_id = l.box_id
RETURNING k.ord, 1 AS outcome, b.version, b.length
