-- seal_segments: stores the full segments of 64 among `ids`, which begin at `start`, a multiple of
-- 64. Returns the rest, the new tail. Most often the tail has just become full: then it is stored
-- as it is.
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
        SELECT e.id, e.place - 1 AS place
          FROM jsonb_array_elements(ids) WITH ORDINALITY AS e(id, place)
    ), written AS (
        INSERT INTO cardbox.card_box_segments (tenant_id, chain_id, start, card_ids)
        SELECT tenant, chain, seal_segments.start + n.place / 64 * 64,
               jsonb_agg(n.id ORDER BY n.place)
          FROM numbered n WHERE n.place / 64 < whole GROUP BY n.place / 64
    )
    SELECT coalesce(jsonb_agg(n.id ORDER BY n.place), '[]') INTO rest
      FROM numbered n WHERE n.place / 64 >= whole;
    RETURN rest;
END
$$;
