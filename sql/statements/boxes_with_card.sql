-- A page of the boxes that hold a card now, newest first. Sealed segments are found by their index. Of the
-- short tails there is none, since it would make every append write up to 64 index entries: so the boxes of
-- the tenant are looked through, and no more than $6 of them for a page. Columns: whether the box is one of
-- the page (1), and whether the look ended at it (2), or both (3); and the box.
-- $1 text  tenant
-- $2 text  card id
-- $3 int8  how many
-- $4 timestamptz, $5 uuid  the last row of the page before; NULL: from the newest
-- $6 int8  how many are looked at
SELECT CASE WHEN w.fits THEN 1 ELSE 0 END + CASE WHEN w.n = $6::int8 THEN 2 ELSE 0 END::int8,
       w.box_id, w.version, w.length, w.parent_ids, w.created_at, w.updated_at
  FROM (SELECT o.*, row_number() OVER () AS n
          FROM (SELECT b.box_id, b.version, b.length, b.parent_ids, b.created_at, b.updated_at,
                       b.tail ? $2::text
                       OR b.chain_id IN (SELECT cardbox.chains_with_card($1::text, $2::text)) AS fits
                  FROM cardbox.card_boxes b
                 WHERE b.tenant_id = $1::text
                   AND CASE WHEN b.deleted_at IS NULL THEN true ELSE false END -- see boxes_list
                   AND (b.created_at, b.box_id) < (least($4::timestamptz, 'infinity'),
                                                   least($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
                 ORDER BY b.created_at DESC, b.box_id DESC
                 LIMIT (SELECT $6::int8)) AS o) AS w
 WHERE w.fits OR w.n = $6::int8
 LIMIT $3::int8
