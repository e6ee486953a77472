-- The changes of a box, newest first. One row with version NULL if the box has none that fit.
-- $1 text  tenant
-- $2 uuid  box
-- $3 int8  only versions below
-- $4 int8  how many
SELECT l.version, l.op, l.length, l.added, l.append_key, l.at
  FROM cardbox.card_boxes b
  LEFT JOIN LATERAL (
        SELECT * FROM cardbox.card_box_log x
         WHERE x.tenant_id = b.tenant_id AND x.box_id = b.box_id AND x.version < $3::int8
         ORDER BY x.version DESC LIMIT $4::int8) AS l ON true
 WHERE b.tenant_id = $1::text AND b.box_id = $2::uuid AND b.deleted_at IS NULL
 ORDER BY l.version DESC
