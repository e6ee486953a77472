-- slice_ids: the ids of an array from position from_pos (the first is 0) up to, not including,
-- before_pos.
CREATE OR REPLACE FUNCTION cardbox.slice_ids(ids jsonb, from_pos bigint, before_pos bigint) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(jsonb_agg(e.id ORDER BY e.place), '[]')
      FROM jsonb_array_elements(ids) WITH ORDINALITY AS e(id, place)
     WHERE e.place > from_pos AND e.place <= before_pos
$$;
