-- all_ids: returns the whole list of a box as a JSON array. The parameters are values from the row of the box in
-- card_boxes.
CREATE OR REPLACE FUNCTION cardbox.all_ids(tenant text, chain uuid, own_from bigint, length bigint, tail jsonb)
RETURNS jsonb
LANGUAGE sql STABLE
AS $$
    SELECT coalesce(jsonb_agg(e.id ORDER BY s.start, e.ord), '[]')
      FROM cardbox.box_segments(tenant, chain, own_from, 0, length, length / 64 * 64, tail) AS s
     CROSS JOIN LATERAL jsonb_array_elements(s.card_ids) WITH ORDINALITY AS e(id, ord)
$$;
GRANT EXECUTE ON FUNCTION cardbox.all_ids TO cardbox_worker;
