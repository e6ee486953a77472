-- Appends ids to boxes, each by itself: so a server does the appends of many requests at once. In the
-- order of their boxes, so that two such statements can't deadlock; those to one box as they come,
-- each seeing what the one before it did. Arrays are parallel.
-- $1 text[] tenants, $2 uuid[] boxes, $3 jsonb[] ids, $4 int8[] expected versions or NULL,
-- $5 text[] keys or NULL, $6 bool whether boxes that others have locked are passed over
SELECT k.ord, c.outcome, c.version, c.length
  FROM (SELECT * FROM unnest($1::text[], $2::uuid[], $3::jsonb[], $4::int8[], $5::text[])
                      WITH ORDINALITY AS u(tenant_id, box_id, ids, expected, key, ord)
         ORDER BY u.tenant_id COLLATE "C", u.box_id, u.ord) AS k
 CROSS JOIN LATERAL cardbox.append_to_box(k.tenant_id, k.box_id, k.ids, k.expected, k.key, $6::bool)
       AS c
