-- Changing boxes. Each function locks the head row first, so changes of one box queue up, and gives
-- an outcome:
--   1 done  2 done before, nothing written  3 no such box  4 wrong expected version
--   5 the append key was used for other ids  6 the box exists  7 the box was deleted
--   8 no such version or length
-- The numbers are those of enum change_outcome in the C code. `at` is NULL (now) or the time of the
-- change that an import repeats.

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

CREATE FUNCTION cardbox.create_box(
    tenant text, box uuid, ids jsonb, parents jsonb, at timestamptz, may_exist boolean,
    OUT outcome integer, OUT version bigint, OUT length bigint)
LANGUAGE plpgsql AS $$
DECLARE
    head record;
    made timestamptz := coalesce(at, clock_timestamp());
BEGIN
    INSERT INTO cardbox.card_boxes (tenant_id, box_id, chain_id, length, version, tail, parent_ids,
                                    created_at, updated_at)
    VALUES (tenant, box, box, jsonb_array_length(ids), 1,
            CASE WHEN jsonb_array_length(ids) < 64 THEN ids ELSE '[]' END, parents, made, made)
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        IF jsonb_array_length(ids) >= 64 THEN
            UPDATE cardbox.card_boxes b SET tail = cardbox.seal_segments(tenant, box, 0, ids)
             WHERE b.tenant_id = tenant AND b.box_id = box;
        END IF;
        INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, at)
        VALUES (tenant, box, 1, 'create', box, jsonb_array_length(ids), jsonb_array_length(ids),
                made);
        outcome := 1;
        version := 1;
        length := jsonb_array_length(ids);
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
    OUT outcome integer, OUT version bigint, OUT length bigint)
LANGUAGE plpgsql AS $$
DECLARE
    head   record;
    before record;
    count  bigint := jsonb_array_length(ids);
    made   timestamptz := clock_timestamp();
BEGIN
    SELECT b.version, b.length, b.chain_id INTO head
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

-- Replaces the list; makes a box that is missing, unless a version is expected. The old list's
-- tail is sealed too, so that the old chain is complete without the head.
CREATE FUNCTION cardbox.save_box(
    tenant text, box uuid, ids jsonb, parents jsonb, expected bigint, at timestamptz,
    OUT outcome integer, OUT version bigint, OUT length bigint)
LANGUAGE plpgsql AS $$
DECLARE
    head  record;
    chain uuid;
    made  timestamptz := coalesce(at, clock_timestamp());
BEGIN
    IF expected IS NULL THEN
        SELECT c.outcome, c.version, c.length INTO outcome, version, length
          FROM cardbox.create_box(tenant, box, ids, parents, at, true) AS c;
        IF outcome <> 2 THEN
            RETURN;
        END IF;
    END IF;
    SELECT b.version, b.length, b.chain_id, b.own_from, b.tail INTO head
      FROM cardbox.card_boxes b
     WHERE b.tenant_id = tenant AND b.box_id = box AND b.deleted_at IS NULL
       FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 3;
        RETURN;
    END IF;
    version := head.version;
    length := head.length;
    IF expected <> head.version THEN
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

-- A new box that begins as `box` is now, was at a version, or with its first at_length ids. The
-- head is not locked: what lies below a length on a chain never changes.
CREATE FUNCTION cardbox.fork_box(
    tenant text, box uuid, new_box uuid, at_version bigint, at_length bigint,
    OUT outcome integer, OUT version bigint, OUT length bigint)
LANGUAGE plpgsql AS $$
DECLARE
    head    record;
    was     record;
    floor   bigint;
    partial jsonb := '[]';
    made    timestamptz := clock_timestamp();
BEGIN
    SELECT b.chain_id, b.own_from, b.length, b.tail INTO head
      FROM cardbox.card_boxes b
     WHERE b.tenant_id = tenant AND b.box_id = box AND b.deleted_at IS NULL;
    IF NOT FOUND THEN
        outcome := 3;
        RETURN;
    END IF;
    IF at_version IS NULL THEN
        SELECT head.chain_id AS chain_id, coalesce(at_length, head.length) AS length INTO was;
    ELSE
        SELECT l.chain_id, l.length INTO was FROM cardbox.card_box_log l
         WHERE l.tenant_id = tenant AND l.box_id = box AND l.version = at_version;
    END IF;
    IF was.chain_id IS NULL OR at_length > head.length THEN
        outcome := 8;
        RETURN;
    END IF;
    length := was.length;
    floor := length / 64 * 64;
    IF length > floor THEN
        SELECT cardbox.first_ids(p.card_ids, fork_box.length - floor) INTO partial
          FROM (SELECT * FROM cardbox.chain_segments(tenant, was.chain_id, 9223372036854775807,
                                                     floor, fork_box.length)
                UNION ALL
                SELECT head.length / 64 * 64, head.tail WHERE head.chain_id = was.chain_id) AS p
         WHERE p.start = floor;
    END IF;
    INSERT INTO cardbox.card_boxes (tenant_id, box_id, chain_id, own_from, length, version, tail,
                                    parent_ids, created_at, updated_at)
    VALUES (tenant, new_box, new_box, floor, fork_box.length, 1, partial, jsonb_build_array(box),
            made, made)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        outcome := 6;
        RETURN;
    END IF;
    IF floor > 0 THEN
        INSERT INTO cardbox.card_box_chains (tenant_id, chain_id, parent_chain_id, parent_length)
        VALUES (tenant, new_box, was.chain_id, floor);
    END IF;
    INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, at)
    VALUES (tenant, new_box, 1, 'fork', new_box, fork_box.length, fork_box.length, made);
    outcome := 1;
    version := 1;
END
$$;
