-- Lists a page of the boxes that contain a card now, newest first: see the function boxes_containing. The first column
-- is 1 if the box contains the card, 2 if the search ended at this box because of $6, 3 if both.
-- $1 text         tenant
-- $2 text         card id
-- $3 int8         maximum number of boxes
-- $4 timestamptz  creation time of the last box of the previous page; NULL: the first page
-- $5 uuid         id of the last box of the previous page
-- $6 int8         maximum number of boxes to examine
-- $7 bool         whether to return previews; otherwise they are NULL
SELECT h.flags, h.box_id, h.version, h.length, h.parent_ids, h.created_at, h.updated_at,
       (SELECT b.sealed FROM cardbox.card_boxes b WHERE b.tenant_id = $1::text AND b.box_id = h.box_id),
       CASE WHEN $7::bool THEN cardbox.box_preview($1::text, h.box_id) END
  FROM cardbox.boxes_containing($1::text, $2::text, $3::int8, least($4::timestamptz, 'infinity'),
                             least($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'), $6::int8) AS h
