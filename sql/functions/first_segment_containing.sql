-- first_segment_containing: part of boxes_containing(): where the first sealed segment begins that contains a card, among those
-- of a box of this chain and length; NULL: none. It searches the chains that this one continues first.
CREATE OR REPLACE FUNCTION cardbox.first_segment_containing(tenant text, chain uuid, length bigint, card text) RETURNS bigint
LANGUAGE sql STABLE
AS $$
    WITH RECURSIVE lineage AS (
        SELECT chain AS chain_id, length AS ceiling, 0 AS climbed
        UNION ALL
        SELECT c.parent_chain_id, least(l.ceiling, c.parent_length), l.climbed + 1
          FROM lineage l
         CROSS JOIN LATERAL ( -- see chain_segments()
                SELECT p.parent_chain_id, p.parent_length FROM cardbox.card_box_chains p
                 WHERE p.tenant_id = tenant AND p.chain_id = l.chain_id LIMIT 1) AS c
         WHERE l.climbed < 256)
    SELECT s.start
      FROM (SELECT * FROM lineage ORDER BY climbed DESC) AS l
     CROSS JOIN LATERAL (
            SELECT x.start FROM cardbox.card_box_segments x
             WHERE x.tenant_id = tenant AND x.chain_id = l.chain_id AND x.start < l.ceiling
               AND x.card_ids ? card
             ORDER BY x.start LIMIT 1) AS s
     LIMIT 1
$$;
