-- append_to_box: appends ids to a box.
--   expected   the version that the box must have; NULL: any
--   key        idempotency key of the append, or NULL
--   pass_over  return outcome 9 instead of waiting for a locked box
-- Outcomes: 1 done  2 done before, nothing written  3 no such box  4 not the expected version
--   5 the key was used for other ids  9 others have locked the box
-- The row of the log is inserted before the key is looked up: its unique index finds a used key as
-- it is written, which costs less than a look beforehand.
CREATE OR REPLACE FUNCTION cardbox.append_to_box(
    tenant text, box uuid, ids jsonb, expected bigint, key text,
    pass_over boolean DEFAULT false,
    OUT outcome integer, OUT version bigint, OUT length bigint)
LANGUAGE plpgsql
AS $$
DECLARE
    head   record;
    before record;
    count  bigint;
    made   timestamptz;
BEGIN
    PERFORM cardbox.check_ids(ids);
    count := jsonb_array_length(ids);
    IF pass_over THEN
        PERFORM FROM cardbox.card_boxes b
          WHERE b.tenant_id = tenant AND b.box_id = box FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND AND EXISTS (SELECT FROM cardbox.card_boxes b
                                  WHERE b.tenant_id = tenant AND b.box_id = box) THEN
            outcome := 9;
            RETURN;
        END IF;
    END IF;
    SELECT b.version, b.length, b.chain_id, b.updated_at INTO head
      FROM cardbox.card_boxes b
     WHERE b.tenant_id = tenant AND b.box_id = box AND b.deleted_at IS NULL
       FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 3;
        RETURN;
    END IF;
    version := head.version + 1;
    length := head.length + count;
    made := greatest(clock_timestamp(), head.updated_at); -- times never run against versions
    IF expected IS NULL OR expected = head.version THEN
        INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added,
                                          append_key, request_digest, at)
        VALUES (tenant, box, append_to_box.version, 'append', head.chain_id, append_to_box.length,
                count, key,
                CASE WHEN key IS NOT NULL THEN sha256(convert_to(ids::text, 'UTF8')) END, made)
            ON CONFLICT (tenant_id, box_id, append_key) WHERE append_key IS NOT NULL DO NOTHING;
        IF FOUND THEN
            outcome := 1;
        END IF;
    END IF;
    IF outcome IS NULL THEN -- it was done before, or is not to be done
        version := head.version;
        length := head.length;
        SELECT l.version, l.length, l.request_digest INTO before
          FROM cardbox.card_box_log l
         WHERE l.tenant_id = tenant AND l.box_id = box AND l.append_key = key;
        outcome := CASE WHEN NOT FOUND THEN 4
                        WHEN before.request_digest = sha256(convert_to(ids::text, 'UTF8')) THEN 2
                        ELSE 5 END;
        IF outcome = 2 THEN
            version := before.version;
            length := before.length;
        END IF;
    ELSIF head.length % 64 + count < 64 THEN
        UPDATE cardbox.card_boxes b
           SET tail = b.tail || ids, length = append_to_box.length,
               version = append_to_box.version, updated_at = made
         WHERE b.tenant_id = tenant AND b.box_id = box;
    ELSE
        UPDATE cardbox.card_boxes b
           SET tail = cardbox.seal_segments(tenant, head.chain_id, head.length / 64 * 64,
                                            b.tail || ids),
               length = append_to_box.length, version = append_to_box.version, updated_at = made
         WHERE b.tenant_id = tenant AND b.box_id = box;
    END IF;
END
$$;
REVOKE ALL ON FUNCTION cardbox.append_to_box FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.append_to_box TO cardbox_service, cardbox_worker;
