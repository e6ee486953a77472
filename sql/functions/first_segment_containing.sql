-- first_segment_containing: returns the position of the first segment that contains a card, in a box with this
-- chain and length; NULL: none. The oldest ancestor of the chain is searched first. Part of boxes_containing().
CREATE OR REPLACE FUNCTION cardbox.first_segment_containing(tenant text, chain uuid, length bigint, card text)
RETURNS bigint
LANGUAGE sql STABLE
AS $$
    WITH RECURSIVE ancestor AS (
        SELECT chain AS chain_id, length AS ceiling, 0 AS generation
        UNION ALL
        SELECT c.parent_chain_id, least(a.ceiling, c.parent_length), a.generation + 1
          FROM ancestor a
         CROSS JOIN LATERAL ( -- see chain_segments()
                SELECT p.parent_chain_id, p.parent_length FROM cardbox.card_box_chains p
                 WHERE p.tenant_id = tenant AND p.chain_id = a.chain_id LIMIT 1) AS c
         WHERE a.generation < 256)
    SELECT s.start
      FROM (SELECT * FROM ancestor ORDER BY generation DESC) AS a
     CROSS JOIN LATERAL (
            SELECT x.start FROM cardbox.card_box_segments x
             WHERE x.tenant_id = tenant AND x.chain_id = a.chain_id AND x.start < a.ceiling
               AND x.card_ids ? card
             ORDER BY x.start LIMIT 1) AS s
     LIMIT 1
$$;
