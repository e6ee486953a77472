-- append_ids: makes one append to a box. The function append_to_boxes() calls append_ids() for each append that
-- its own first statement did not make.
--   waits  Whether to wait for a box that another transaction has locked.
--
-- Outcomes are:
--   1  The ids were appended.
--   2  The same append was made before with this key; nothing was written.
--   3  There is no such box, or it was deleted.
--   4  The box has another version than expected.
--   5  The key was used before for other ids.
--   9  Another transaction has locked the box, and `waits` is false.
--  11  The box is sealed.
CREATE OR REPLACE FUNCTION cardbox.append_ids(
    tenant text, box uuid, ids jsonb, expected bigint, key text, waits boolean,
    OUT outcome integer, OUT version bigint, OUT length bigint)
LANGUAGE plpgsql
AS $$
DECLARE
    head   record;
    before record;
    made   timestamptz;
    digest CONSTANT bytea := sha256(convert_to(ids::text, 'UTF8'));
BEGIN
    PERFORM cardbox.check_ids(ids);
    IF ids = '[]' OR octet_length(key) NOT BETWEEN 1 AND 512 THEN
        RAISE EXCEPTION 'an append needs at least one id, and a key of 1 to 512 bytes if any'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF waits IS NOT TRUE THEN
        PERFORM FROM cardbox.card_boxes b
          WHERE b.tenant_id = tenant AND b.box_id = box FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND AND EXISTS (SELECT FROM cardbox.card_boxes b
                                  WHERE b.tenant_id = tenant AND b.box_id = box) THEN
            outcome := 9;
            RETURN;
        END IF;
    END IF;
    SELECT b.version, b.length, b.chain_id, b.updated_at, b.sealed INTO head
      FROM cardbox.card_boxes b
     WHERE b.tenant_id = tenant AND b.box_id = box AND b.deleted_at IS NULL
       FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 3;
        RETURN;
    END IF;
    version := head.version + 1;
    length := head.length + jsonb_array_length(ids);
    made := greatest(clock_timestamp(), head.updated_at); -- times in the log of a box never decrease
    IF NOT head.sealed AND (expected IS NULL OR expected = head.version) THEN
        INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, append_key,
                                          request_digest, at)
        VALUES (tenant, box, append_ids.version, 'append', head.chain_id, append_ids.length,
                jsonb_array_length(ids), key, CASE WHEN key IS NOT NULL THEN digest END, made)
            ON CONFLICT (tenant_id, box_id, append_key) WHERE append_key IS NOT NULL DO NOTHING;
        IF FOUND THEN
            UPDATE cardbox.card_boxes b
               SET tail = cardbox.seal_segments(tenant, head.chain_id, head.length / 64 * 64, b.tail || ids),
                   length = append_ids.length, version = append_ids.version, updated_at = made
             WHERE b.tenant_id = tenant AND b.box_id = box;
            outcome := 1;
            RETURN;
        END IF;
    END IF;
    SELECT l.version, l.length, l.request_digest INTO before
      FROM cardbox.card_box_log l
     WHERE l.tenant_id = tenant AND l.box_id = box AND l.append_key = key;
    outcome := CASE WHEN FOUND THEN CASE WHEN before.request_digest = digest THEN 2 ELSE 5 END
                    WHEN head.sealed THEN 11 ELSE 4 END;
    version := CASE outcome WHEN 2 THEN before.version ELSE head.version END;
    length := CASE outcome WHEN 2 THEN before.length ELSE head.length END;
END
$$;
