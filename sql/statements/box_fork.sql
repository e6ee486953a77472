-- Forks a box. Where there is a box of the new id, what is said is where that one stands; where the box never
-- was as it is asked for, or has fewer ids than its log says, where it stands now.
-- $1 text tenant, $2 uuid box, $3 uuid new box, $4 int8 at version or NULL, $5 int8 at length or NULL
SELECT CASE WHEN b.deleted_at IS NULL THEN c.outcome ELSE 7 END, coalesce(b.version, c.version),
       coalesce(b.length, c.length)
  FROM cardbox.fork_box($1::text, $2::uuid, $3::uuid, $4::int8, $5::int8) AS c
  LEFT JOIN cardbox.card_boxes b
    ON b.tenant_id = $1::text AND b.box_id = CASE WHEN c.outcome = 6 THEN $3::uuid WHEN c.outcome IN (8, 10) THEN $2::uuid END
