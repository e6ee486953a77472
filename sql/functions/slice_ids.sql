-- slice_ids: returns the ids at the positions from from_pos to before_pos - 1 of a JSON array; the first id has
-- position 0.
CREATE OR REPLACE FUNCTION cardbox.slice_ids(ids jsonb, from_pos bigint, before_pos bigint) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(jsonb_agg(e.id ORDER BY e.ord), '[]')
      FROM jsonb_array_elements(ids) WITH ORDINALITY AS e(id, ord)
     WHERE e.ord > from_pos AND e.ord <= before_pos
$$;
