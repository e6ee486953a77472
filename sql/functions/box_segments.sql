-- box_segments: returns the segments that chain_segments() finds, and the tail of a box if it begins before before_pos.
-- PostgreSQL inlines the function.
--   tail_start  Position of the first id of the tail.
--   tail        Ids of the tail; NULL: `chain` is an earlier chain of the box, whose ids are all in segments.
CREATE OR REPLACE FUNCTION cardbox.box_segments(
    tenant text, chain uuid, own_from bigint, from_pos bigint, before_pos bigint, tail_start bigint, tail jsonb)
RETURNS TABLE (start bigint, card_ids jsonb)
LANGUAGE sql STABLE
AS $$
    SELECT s.start, s.card_ids FROM cardbox.chain_segments(tenant, chain, own_from, from_pos, before_pos) AS s
    UNION ALL
    SELECT tail_start, tail WHERE tail <> '[]' AND tail_start < before_pos
$$;
GRANT EXECUTE ON FUNCTION cardbox.box_segments TO cardbox_worker;
