-- Imports boxes: see the function import_box. Boxes are locked in the order of their tenants and ids, so that two
-- boxes_save statements do not deadlock with each other. The arrays are parallel.
-- $1 text[]         tenants
-- $2 uuid[]         boxes
-- $3 jsonb[]        ids
-- $4 jsonb[]        ids of parent boxes, for new boxes
-- $5 timestamptz[]  times of the changes; NULL: now
-- $6 bool[]         whether to seal the boxes
SELECT k.ord, c.outcome, c.version
  FROM (SELECT * FROM unnest($1::text[], $2::uuid[], $3::jsonb[], $4::jsonb[], $5::timestamptz[], $6::bool[])
                      WITH ORDINALITY AS u(tenant_id, box_id, card_ids, parent_ids, at, seals, ord)
         ORDER BY u.tenant_id COLLATE "C", u.box_id, u.ord) AS k
 CROSS JOIN LATERAL cardbox.import_box(k.tenant_id, k.box_id, k.card_ids, k.parent_ids, k.at, k.seals)
       AS c
