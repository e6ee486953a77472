-- chain_segments: the sealed segments that contain the positions from_pos to before_pos of a chain,
-- its own and those of the chains that it continues. The first may begin before from_pos, the last
-- end after before_pos.
--   own_from  positions below belong to the chain's parents; a large number if that is not known
-- test_costs.py test_costs: joins without LATERAL and LIMIT, or ORDER BY, may read the whole table at each step.
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
      FROM (WITH RECURSIVE lineage AS (
                SELECT c.parent_chain_id AS chain_id, c.parent_length AS ceiling, 1 AS climbed, c.depth
                  FROM cardbox.card_box_chains c
                 WHERE c.tenant_id = tenant AND c.chain_id = chain AND from_pos < own_from
                UNION ALL
                SELECT c.parent_chain_id, least(l.ceiling, c.parent_length), l.climbed + 1, c.depth
                  FROM lineage l
                 CROSS JOIN LATERAL (
                        SELECT p.parent_chain_id, p.parent_length, p.depth
                          FROM cardbox.card_box_chains p
                         WHERE p.tenant_id = tenant AND p.chain_id = l.chain_id LIMIT 1) AS c
                 WHERE from_pos < least(l.ceiling, c.parent_length) AND l.climbed < 256
                   AND c.depth < l.depth)
            SELECT * FROM lineage) AS l
     CROSS JOIN LATERAL (
            SELECT x.start, x.card_ids
              FROM cardbox.card_box_segments x
             WHERE x.tenant_id = tenant AND x.chain_id = l.chain_id
               AND x.start > from_pos - 64 AND x.start < least(l.ceiling, before_pos)
             ORDER BY x.start) AS s
$$;
GRANT EXECUTE ON FUNCTION cardbox.chain_segments TO cardbox_worker;
