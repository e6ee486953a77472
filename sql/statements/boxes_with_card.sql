-- A page of the boxes that hold a card now, newest first: see the function. Columns: whether the box is one of the
-- page (1), and whether the look ended at it (2), or both (3); and the box.
-- $1 text  tenant
-- $2 text  card id
-- $3 int8  how many
-- $4 timestamptz, $5 uuid  the last row of the page before; NULL: from the newest
-- $6 int8  how many are looked at
SELECT h.said, h.box_id, h.version, h.length, h.parent_ids, h.created_at, h.updated_at
  FROM cardbox.boxes_containing($1::text, $2::text, $3::int8, least($4::timestamptz, 'infinity'),
                             least($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'), $6::int8) AS h
