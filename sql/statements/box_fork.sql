-- Forks a box. If a box with the new id exists, the row has the version and length of that box, and the outcome 7 if
-- that box is deleted. If the source has no such version or length, or lacks ids, the row has the current version and
-- length of the source.
-- $1 text  tenant
-- $2 uuid  box
-- $3 uuid  id of the new box
-- $4 int8  version at which to fork, or NULL
-- $5 int8  length at which to fork, or NULL
SELECT CASE WHEN b.deleted_at IS NULL THEN c.outcome ELSE 7 END, coalesce(b.version, c.version),
       coalesce(b.length, c.length)
  FROM cardbox.fork_box($1::text, $2::uuid, $3::uuid, $4::int8, $5::int8) AS c
  LEFT JOIN cardbox.card_boxes b
    ON b.tenant_id = $1::text AND b.box_id = CASE WHEN c.outcome = 6 THEN $3::uuid
                                                      WHEN c.outcome IN (8, 10) THEN $2::uuid END
