-- Lists the changes of a box, newest first. If no change matches, one row with version NULL is returned; if there is no
-- such box, no row.
-- $1 text  tenant
-- $2 uuid  box
-- $3 int8  only versions below this one
-- $4 int8  maximum number of changes
-- $5 int8  the added ids are returned if a change added at most this number of ids; NULL: no ids
SELECT l.version, l.op, l.length, l.added, l.append_key, l.at, i.ids
  FROM cardbox.card_boxes b
  LEFT JOIN LATERAL (
        SELECT * FROM cardbox.card_box_log x
         WHERE x.tenant_id = b.tenant_id AND x.box_id = b.box_id AND x.version < $3::int8
         ORDER BY x.version DESC LIMIT $4::int8) AS l ON true
  LEFT JOIN LATERAL (
        SELECT coalesce(jsonb_agg(e.id ORDER BY s.start, e.ord), '[]') AS ids
          FROM cardbox.box_segments(b.tenant_id, l.chain_id, 9223372036854775807, l.length - l.added, l.length,
                                    b.length / 64 * 64, CASE WHEN l.chain_id = b.chain_id THEN b.tail END) AS s
         CROSS JOIN LATERAL jsonb_array_elements(s.card_ids) WITH ORDINALITY AS e(id, ord)
         WHERE s.start + e.ord > l.length - l.added AND s.start + e.ord <= l.length
       ) AS i ON l.added <= $5::int8
 WHERE b.tenant_id = $1::text AND b.box_id = $2::uuid AND b.deleted_at IS NULL
 ORDER BY l.version DESC
