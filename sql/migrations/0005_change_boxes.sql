-- Changing boxes. Each function locks the head row first, so changes of one box queue up, and gives
-- an outcome:
--   1 done  2 done before, nothing written  3 no such box  4 wrong expected version
--   5 the append key was used for other ids  6 the box exists  7 the box was deleted
--   8 no such version or length  9 others have locked the box, and it was asked to pass over those
-- Ids that are no array of strings are an error, 22023.
-- The numbers are those of enum change_outcome in the C code. `at` is NULL (now) or the time of the
-- change that an import repeats; but no change is ever earlier than the one before it, which is what
-- version_at counts on, and what updated_at is then, too.

-- Writes what is new on a chain: whole segments of 64 to their table. `ids` begins at `start`, a
-- multiple of 64. Gives what is left over, the new tail.
CREATE FUNCTION cardbox.seal_segments(tenant text, chain uuid, start bigint, ids jsonb)
RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    whole bigint := jsonb_array_length(ids) / 64;
    rest  jsonb;
BEGIN
    IF whole = 0 THEN
        RETURN ids;
    END IF;
    WITH numbered AS (
        SELECT e.id, e.place - 1 AS place
          FROM jsonb_array_elements(ids) WITH ORDINALITY AS e(id, place)
    ), written AS (
        INSERT INTO cardbox.card_box_segments (tenant_id, chain_id, start, card_ids)
        SELECT tenant, chain, seal_segments.start + n.place / 64 * 64,
               jsonb_agg(n.id ORDER BY n.place)
          FROM numbered n WHERE n.place / 64 < whole GROUP BY n.place / 64
    )
    SELECT coalesce(jsonb_agg(n.id ORDER BY n.place), '[]') INTO rest
      FROM numbered n WHERE n.place / 64 >= whole;
    RETURN rest;
END
$$;

CREATE FUNCTION cardbox.check_ids(ids jsonb) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF ids IS NULL OR NOT cardbox.is_id_list(ids) THEN
        RAISE EXCEPTION 'ids must be an array of strings' USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;

CREATE FUNCTION cardbox.create_box(
    tenant text, box uuid, ids jsonb, parents jsonb, at timestamptz, may_exist boolean,
    OUT outcome integer, OUT version bigint, OUT length bigint)
LANGUAGE plpgsql AS $$
DECLARE
    head  record;
    made  timestamptz := coalesce(at, clock_timestamp());
    chain uuid := gen_random_uuid(); -- not the box's id: that may have been another box's before
BEGIN
    PERFORM cardbox.check_ids(ids);
    length := jsonb_array_length(ids);
    INSERT INTO cardbox.card_boxes (tenant_id, box_id, chain_id, length, version, tail, parent_ids,
                                    created_at, updated_at)
    VALUES (tenant, box, chain, create_box.length, 1,
            cardbox.slice_ids(ids, create_box.length / 64 * 64, create_box.length), parents, made,
            made)
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM cardbox.seal_segments(tenant, chain, 0, ids);
        INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, at)
        VALUES (tenant, box, 1, 'create', chain, create_box.length, create_box.length, made);
        outcome := 1;
        version := 1;
        RETURN;
    END IF;
    SELECT b.version, b.length, b.deleted_at INTO head
      FROM cardbox.card_boxes b WHERE b.tenant_id = tenant AND b.box_id = box;
    outcome := CASE WHEN head.deleted_at IS NOT NULL THEN 7 WHEN may_exist THEN 2 ELSE 6 END;
    version := head.version;
    length := head.length;
END
$$;

CREATE FUNCTION cardbox.append_to_box(
    tenant text, box uuid, ids jsonb, expected bigint, key text,
    pass_over boolean DEFAULT false,
    OUT outcome integer, OUT version bigint, OUT length bigint)
LANGUAGE plpgsql AS $$
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
    version := head.version;
    length := head.length;
    IF key IS NOT NULL THEN
        SELECT l.version, l.length, l.request_digest INTO before
          FROM cardbox.card_box_log l
         WHERE l.tenant_id = tenant AND l.box_id = box AND l.append_key = key;
        IF FOUND THEN
            outcome := CASE WHEN before.request_digest = sha256(convert_to(ids::text, 'UTF8'))
                            THEN 2 ELSE 5 END;
            IF outcome = 2 THEN
                version := before.version;
                length := before.length;
            END IF;
            RETURN;
        END IF;
    END IF;
    IF expected <> head.version THEN
        outcome := 4;
        RETURN;
    END IF;
    outcome := 1;
    version := head.version + 1;
    length := head.length + count;
    made := greatest(clock_timestamp(), head.updated_at); -- times never run against versions
    IF head.length % 64 + count < 64 THEN
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
    INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added,
                                      append_key, request_digest, at)
    VALUES (tenant, box, append_to_box.version, 'append', head.chain_id, append_to_box.length,
            count, key, CASE WHEN key IS NOT NULL THEN sha256(convert_to(ids::text, 'UTF8')) END,
            made);
END
$$;

-- Replaces the list; makes a box that is missing, unless a version is expected: 0 is any. The old list's
-- tail is sealed too, so that the old chain is complete without the head.
CREATE FUNCTION cardbox.save_box(
    tenant text, box uuid, ids jsonb, parents jsonb, expected bigint, at timestamptz,
    OUT outcome integer, OUT version bigint, OUT length bigint)
LANGUAGE plpgsql AS $$
DECLARE
    head  record;
    chain uuid;
    made  timestamptz;
BEGIN
    PERFORM cardbox.check_ids(ids);
    IF expected IS NULL THEN
        SELECT c.outcome, c.version, c.length INTO outcome, version, length
          FROM cardbox.create_box(tenant, box, ids, parents, at, true) AS c;
        IF outcome <> 2 THEN
            RETURN;
        END IF;
    END IF;
    SELECT b.version, b.length, b.chain_id, b.own_from, b.tail, b.updated_at INTO head
      FROM cardbox.card_boxes b
     WHERE b.tenant_id = tenant AND b.box_id = box AND b.deleted_at IS NULL
       FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 3;
        RETURN;
    END IF;
    version := head.version;
    length := head.length;
    IF expected > 0 AND expected <> head.version THEN
        outcome := 4;
        RETURN;
    END IF;
    IF head.length = jsonb_array_length(ids) AND ids = (
            SELECT coalesce(jsonb_agg(e.id ORDER BY p.start, e.place), '[]')
              FROM (SELECT * FROM cardbox.chain_segments(tenant, head.chain_id, head.own_from, 0,
                                                         head.length)
                    UNION ALL SELECT head.length / 64 * 64, head.tail) AS p
             CROSS JOIN LATERAL jsonb_array_elements(p.card_ids)
                   WITH ORDINALITY AS e(id, place)) THEN
        outcome := 2;
        RETURN;
    END IF;
    IF head.tail <> '[]' THEN
        INSERT INTO cardbox.card_box_segments (tenant_id, chain_id, start, card_ids)
        VALUES (tenant, head.chain_id, head.length / 64 * 64, head.tail);
    END IF;
    chain := gen_random_uuid();
    made := greatest(coalesce(at, clock_timestamp()), head.updated_at);
    outcome := 1;
    version := head.version + 1;
    length := jsonb_array_length(ids);
    UPDATE cardbox.card_boxes b
       SET chain_id = chain, own_from = 0, tail = cardbox.seal_segments(tenant, chain, 0, ids),
           length = save_box.length, version = save_box.version, updated_at = made
     WHERE b.tenant_id = tenant AND b.box_id = box;
    INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, at)
    VALUES (tenant, box, save_box.version, 'replace', chain, save_box.length, save_box.length, made);
END
$$;

-- A new box that begins as `box` is now, was at a version, or with its first at_length ids. The head is
-- not locked against changes, but read together with the log: what lies below a length on a chain never
-- changes.
CREATE FUNCTION cardbox.fork_box(
    tenant text, box uuid, new_box uuid, at_version bigint, at_length bigint,
    OUT outcome integer, OUT version bigint, OUT length bigint)
LANGUAGE plpgsql AS $$
DECLARE
    head    record;
    floor   bigint;
    depth   integer;
    partial jsonb := '[]';
    chain   uuid := gen_random_uuid();
    made    timestamptz := clock_timestamp();
BEGIN
    -- As a foreign key would: the box may change, but what it has is not removed before this ends.
    PERFORM FROM cardbox.card_boxes b
      WHERE b.tenant_id = tenant AND b.box_id = box AND b.deleted_at IS NULL FOR KEY SHARE;
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
    length := head.length;
    floor := length / 64 * 64;
    IF length > floor THEN
        SELECT cardbox.slice_ids(p.card_ids, 0, fork_box.length - floor) INTO partial
          FROM (SELECT * FROM cardbox.chain_segments(tenant, head.chain_id, 9223372036854775807,
                                                     floor, fork_box.length)
                UNION ALL
                SELECT head.last_length / 64 * 64, head.tail
                 WHERE head.last_chain = head.chain_id) AS p
         WHERE p.start = floor;
    END IF;
    SELECT coalesce(max(c.depth), 0) + 1 INTO depth FROM cardbox.card_box_chains c
     WHERE c.tenant_id = tenant AND c.chain_id = head.chain_id;
    INSERT INTO cardbox.card_boxes (tenant_id, box_id, chain_id, own_from, length, version, tail,
                                    parent_ids, created_at, updated_at)
    VALUES (tenant, new_box, chain, CASE WHEN depth > 256 THEN 0 ELSE floor END,
            fork_box.length, 1, partial, jsonb_build_array(box), made, made)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        outcome := 6;
        RETURN;
    END IF;
    IF floor > 0 AND depth > 256 THEN
        INSERT INTO cardbox.card_box_segments (tenant_id, chain_id, start, card_ids)
        SELECT tenant, chain, s.start, s.card_ids
          FROM cardbox.chain_segments(tenant, head.chain_id, 9223372036854775807, 0, floor) AS s;
    ELSIF floor > 0 THEN
        INSERT INTO cardbox.card_box_chains (tenant_id, chain_id, parent_chain_id, parent_length,
                                             depth)
        VALUES (tenant, chain, head.chain_id, floor, depth);
    END IF;
    INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, at)
    VALUES (tenant, new_box, 1, 'fork', chain, fork_box.length, fork_box.length, made);
    outcome := 1;
    version := 1;
END
$$;
