-- chain_segments: returns the stored segments that contain the positions from from_pos to before_pos - 1 of a chain.
-- The segments of positions that belong to parent chains are found through the table card_box_chains. The first segment
-- may begin before from_pos, and the last one may end after before_pos.
--   own_from  Positions below own_from belong to parent chains; 9223372036854775807: unknown.
--
-- test_costs.py test_costs: the joins are LATERAL and have LIMIT or ORDER BY. Without LATERAL and LIMIT or ORDER BY, a
-- join may read the whole table at each step of the recursion.
CREATE OR REPLACE FUNCTION cardbox.chain_segments(
    tenant text, chain uuid, own_from bigint, from_pos bigint, before_pos bigint)
RETURNS TABLE (start bigint, card_ids jsonb)
LANGUAGE sql STABLE
AS $$
    SELECT s.start, s.card_ids
      FROM cardbox.card_box_segments s
     WHERE s.tenant_id = tenant AND s.chain_id = chain
       AND s.start > from_pos - 64 AND s.start < before_pos
    UNION ALL
    SELECT s.start, s.card_ids
      FROM (WITH RECURSIVE ancestor AS (
                SELECT c.parent_chain_id AS chain_id, c.parent_length AS ceiling, 1 AS generation, c.depth
                  FROM cardbox.card_box_chains c
                 WHERE c.tenant_id = tenant AND c.chain_id = chain AND from_pos < own_from
                UNION ALL
                SELECT c.parent_chain_id, least(a.ceiling, c.parent_length), a.generation + 1, c.depth
                  FROM ancestor a
                 CROSS JOIN LATERAL (
                        SELECT p.parent_chain_id, p.parent_length, p.depth
                          FROM cardbox.card_box_chains p
                         WHERE p.tenant_id = tenant AND p.chain_id = a.chain_id LIMIT 1) AS c
                 WHERE from_pos < least(a.ceiling, c.parent_length) AND a.generation < 256
                   AND c.depth < a.depth)
            SELECT * FROM ancestor) AS a
     CROSS JOIN LATERAL (
            SELECT x.start, x.card_ids
              FROM cardbox.card_box_segments x
             WHERE x.tenant_id = tenant AND x.chain_id = a.chain_id
               AND x.start > from_pos - 64 AND x.start < least(a.ceiling, before_pos)
             ORDER BY x.start) AS s
$$;
GRANT EXECUTE ON FUNCTION cardbox.chain_segments TO cardbox_worker;
