-- seal_segments: stores the complete segments of 64 ids among `ids`, and returns the other ids, which are the new tail.
-- `start` is the position of the first id, a multiple of 64. Exactly 64 ids are a frequent case, in which the array is
-- not split.
CREATE OR REPLACE FUNCTION cardbox.seal_segments(tenant text, chain uuid, start bigint, ids jsonb)
RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    whole bigint := jsonb_array_length(ids) / 64;
    rest  jsonb;
BEGIN
    IF whole = 0 THEN
        RETURN ids;
    ELSIF jsonb_array_length(ids) = 64 THEN
        INSERT INTO cardbox.card_box_segments (tenant_id, chain_id, start, card_ids)
        VALUES (tenant, chain, seal_segments.start, ids);
        RETURN '[]';
    END IF;
    WITH numbered AS (
        SELECT e.id, e.ord - 1 AS ord
          FROM jsonb_array_elements(ids) WITH ORDINALITY AS e(id, ord)
    ), written AS (
        INSERT INTO cardbox.card_box_segments (tenant_id, chain_id, start, card_ids)
        SELECT tenant, chain, seal_segments.start + n.ord / 64 * 64,
               jsonb_agg(n.id ORDER BY n.ord)
          FROM numbered n WHERE n.ord / 64 < whole GROUP BY n.ord / 64
    )
    SELECT coalesce(jsonb_agg(n.id ORDER BY n.ord), '[]') INTO rest
      FROM numbered n WHERE n.ord / 64 >= whole;
    RETURN rest;
END
$$;
