-- all_ids: the whole list of a box, from the columns of its head.
CREATE OR REPLACE FUNCTION cardbox.all_ids(tenant text, chain uuid, own_from bigint, length bigint, tail jsonb)
RETURNS jsonb
LANGUAGE sql STABLE
AS $$
    SELECT coalesce(jsonb_agg(e.id ORDER BY p.start, e.place), '[]')
      FROM (SELECT * FROM cardbox.chain_segments(tenant, chain, own_from, 0, length)
            UNION ALL SELECT length / 64 * 64, tail) AS p
     CROSS JOIN LATERAL jsonb_array_elements(p.card_ids) WITH ORDINALITY AS e(id, place)
$$;
GRANT EXECUTE ON FUNCTION cardbox.all_ids TO cardbox_worker;
