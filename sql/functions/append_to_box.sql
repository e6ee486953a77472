-- append_to_box: appends ids of cards to a box, for SQL programs. The append is that of append_to_boxes(), which the SDK
-- calls.
--   card_ids          1 to 10,000 ids. The cards need not exist.
--   expected_version  Version that the box must have; NULL: any.
--   append_key        Idempotency key of 1 to 512 bytes, or NULL. If the same append with this key was made before, nothing
--                     is written, `outcome` is `unchanged`, and `version` and `length` are those of the first append.
--   outcome           `appended` or `unchanged`.
--
-- Errors:
--   22023  A parameter is not valid.
--   42501  The project is not granted to the caller.
--   CB404  There is no such box.
--   CB409  The box has another version or is sealed, or the key was used for other ids.
CREATE OR REPLACE FUNCTION cardbox.append_to_box(
    tenant text, box_id uuid, card_ids text[], expected_version bigint DEFAULT NULL, append_key text DEFAULT NULL,
    OUT outcome text, OUT version bigint, OUT length bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    result integer;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    PERFORM cardbox.check_id('tenant', tenant, 255), cardbox.check_id('append_key', coalesce(append_key, '-'), 512);
    IF box_id IS NULL OR expected_version < 1 OR coalesce(cardinality(card_ids), 0) NOT BETWEEN 1 AND 10000 THEN
        RAISE EXCEPTION 'an append needs a box_id, 1 to 10000 card_ids, and an expected_version of 1 or more if any'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM cardbox.check_id('a card id', i.id, 512) FROM unnest(card_ids) AS i(id);
    SELECT a.outcome, a.version, a.length INTO result, version, length
      FROM cardbox.append_to_boxes(ARRAY[tenant], ARRAY[box_id], ARRAY[to_jsonb(card_ids)], ARRAY[expected_version],
                                   ARRAY[append_key], true) AS a;
    IF result = 3 THEN
        RAISE EXCEPTION 'box not found' USING ERRCODE = 'CB404';
    ELSIF result = 4 THEN
        RAISE EXCEPTION 'the box has changed: it is at version %', version USING ERRCODE = 'CB409';
    ELSIF result = 5 THEN
        RAISE EXCEPTION 'the append key was used for other ids: the box is at version %', version
            USING ERRCODE = 'CB409';
    ELSIF result = 11 THEN
        RAISE EXCEPTION 'the box is sealed and can''t be changed: it is at version %', version
            USING ERRCODE = 'CB409';
    END IF;
    outcome := CASE result WHEN 1 THEN 'appended' ELSE 'unchanged' END;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.append_to_box TO cardbox_worker;
ALTER FUNCTION cardbox.append_to_box OWNER TO cardbox_writer;
