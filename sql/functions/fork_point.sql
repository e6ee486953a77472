-- fork_point: returns the list that a fork of a box begins with, as a chain and a length. The column `partial` has the
-- ids after the last full segment of this list, which the fork copies. Part of fork_box(). Outcomes: 1 found, 3 no such
-- box, 8 no such version or length, 10 ids are missing.
--
-- Outcome 10 means that the database is damaged. The function checks only the copied ids and the segment before them.
-- If it checked all segments, the time of a fork would grow with the length of the box.
CREATE OR REPLACE FUNCTION cardbox.fork_point(
    tenant text, box uuid, at_version bigint, at_length bigint,
    OUT outcome integer, OUT chain uuid, OUT length bigint, OUT partial jsonb)
LANGUAGE plpgsql
AS $$
DECLARE
    head  record;
    floor bigint;
BEGIN
    SELECT b.chain_id AS last_chain, b.length AS last_length, b.tail, w.chain_id, w.length
      INTO head
      FROM cardbox.card_boxes b
      LEFT JOIN LATERAL (
            SELECT b.chain_id, coalesce(at_length, b.length) AS length
             WHERE at_version IS NULL AND (at_length IS NULL OR at_length BETWEEN 0 AND b.length)
            UNION ALL
            SELECT l.chain_id, l.length FROM cardbox.card_box_log l
             WHERE l.tenant_id = tenant AND l.box_id = box AND l.version = at_version) AS w ON true
     WHERE b.tenant_id = tenant AND b.box_id = box AND b.deleted_at IS NULL;
    IF NOT FOUND OR head.chain_id IS NULL THEN
        outcome := CASE WHEN FOUND THEN 8 ELSE 3 END;
        RETURN;
    END IF;
    outcome := 1;
    chain := head.chain_id;
    length := head.length;
    partial := '[]';
    floor := length / 64 * 64;
    IF length > floor THEN
        SELECT cardbox.slice_ids(s.card_ids, 0, fork_point.length - floor) INTO partial
          FROM cardbox.box_segments(tenant, head.chain_id, 9223372036854775807, floor, fork_point.length,
                                    head.last_length / 64 * 64,
                                    CASE WHEN head.last_chain = head.chain_id THEN head.tail END) AS s
         WHERE s.start = floor;
    END IF;
    IF coalesce(jsonb_array_length(partial), 0) <> length - floor
       OR floor > 0 AND NOT EXISTS (
            SELECT FROM cardbox.chain_segments(tenant, head.chain_id, 9223372036854775807, floor - 64, floor) AS s
             WHERE s.start = floor - 64 AND jsonb_array_length(s.card_ids) = 64) THEN
        outcome := 10;
    END IF;
END
$$;
