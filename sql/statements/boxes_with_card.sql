-- The boxes that hold a card now, newest change first. Sealed segments are found by their index; the
-- short tails of the tenant's boxes are looked through, since an index on them would make every
-- append write up to 64 index entries.
-- $1 text  tenant
-- $2 text  card id
-- $3 int8  how many
-- $4 timestamptz, $5 uuid  the last row of the page before; NULL: from the newest. A box that changes
-- between two pages goes to the front.
WITH RECURSIVE holding AS (
    SELECT s.chain_id, s.start
      FROM cardbox.card_box_segments s
     WHERE s.tenant_id = $1::text AND s.card_ids ? $2::text
       AND cardbox.id_keys(s.tenant_id, s.card_ids) @> ARRAY[cardbox.id_key($1::text, $2::text)]
    UNION
    SELECT c.chain_id, h.start
      FROM holding h
      JOIN cardbox.card_box_chains c
        ON c.tenant_id = $1::text AND c.parent_chain_id = h.chain_id AND c.parent_length > h.start
), held AS (
    SELECT b.* FROM cardbox.card_boxes b
     WHERE b.tenant_id = $1::text AND b.chain_id IN (SELECT h.chain_id FROM holding h)
       AND b.deleted_at IS NULL
    UNION
    SELECT b.* FROM cardbox.card_boxes b
     WHERE b.tenant_id = $1::text AND b.tail ? $2::text AND b.deleted_at IS NULL
)
SELECT h.box_id, h.version, h.length, h.parent_ids, h.created_at, h.updated_at
  FROM held h
 WHERE (h.updated_at, h.box_id) < (coalesce($4::timestamptz, 'infinity'), coalesce($5::uuid,
        'ffffffff-ffff-ffff-ffff-ffffffffffff'))
 ORDER BY h.updated_at DESC, h.box_id DESC LIMIT $3::int8
