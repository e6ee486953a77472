-- append_to_boxes: appends ids to boxes. Each append succeeds or fails on its own. Appends to one box are made in the
-- order of the arrays, which are parallel. Returns a row for each append, with its index from 1.
--   expecteds  Version that the box must have; NULL: any.
--   keys       Idempotency key, or NULL.
--   waits      Whether the call waits for a locked box if it has only one append. With several appends the call does
--              not wait for locked boxes, to avoid deadlocks.
--
-- The outcomes are those of append_ids().
--
-- One statement makes those appends that only extend the tail of a box and are the first to their box in the arrays.
-- The statement leaves out an append if, for example, its box is locked or its key was used before. append_ids()
-- makes the appends that are left out, one by one. The statement inserts the row of the log first: the unique index
-- finds a used key, which is cheaper than a query.
--
-- The UPDATE sets all columns outside the key that a CHECK constraint reads, to values from the locked row. The scan of
-- the UPDATE may return an older row version, if another transaction changed the box after the snapshot. PostgreSQL
-- checks the constraints of the new row before it notices such a change.
--
-- plan_cache_mode: with the default, PostgreSQL may plan the statement for each call, which is slower than to run it.
CREATE OR REPLACE FUNCTION cardbox.append_to_boxes(
    tenants text[], boxes uuid[], id_lists jsonb[], expecteds bigint[], keys text[], waits boolean)
RETURNS TABLE (ord bigint, outcome integer, version bigint, length bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    count CONSTANT integer := cardinality(boxes);
    done  bigint[] := '{}';
    i     integer;
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(tenants);
    END IF;
    outcome := 1;
    FOR ord, version, length IN
        WITH locked AS (
            SELECT u.ord, u.ids, u.key, h.*
              FROM unnest(tenants, boxes, id_lists, expecteds, keys)
                   WITH ORDINALITY AS u(tenant_id, box_id, ids, expected, key, ord)
             CROSS JOIN LATERAL (
                    SELECT b.tenant_id, b.box_id, b.chain_id, b.own_from, b.version + 1 AS version,
                           b.tail || u.ids AS tail,
                           b.length + jsonb_array_length(u.ids) AS length,
                           greatest(clock_timestamp(), b.updated_at) AS at
                      FROM cardbox.card_boxes b
                     WHERE u.ord = array_position(boxes, u.box_id)
                       AND b.tenant_id = u.tenant_id COLLATE "C" AND b.box_id = u.box_id
                       AND b.deleted_at IS NULL AND NOT b.sealed AND (u.expected IS NULL OR b.version = u.expected)
                       AND jsonb_array_length(u.ids) BETWEEN 1 AND 63 - b.length % 64
                       FOR NO KEY UPDATE SKIP LOCKED) AS h
        ), logged AS (
            INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added,
                                              append_key, request_digest, at)
            SELECT k.tenant_id, k.box_id, k.version, 'append', k.chain_id, k.length, jsonb_array_length(k.ids), k.key,
                   CASE WHEN k.key IS NOT NULL THEN sha256(convert_to(k.ids::text, 'UTF8')) END, k.at
              FROM locked k
                ON CONFLICT (tenant_id, box_id, append_key) WHERE append_key IS NOT NULL DO NOTHING
            RETURNING tenant_id, box_id, version, length, at
        )
        UPDATE cardbox.card_boxes b
           SET own_from = k.own_from, tail = k.tail, length = l.length, version = l.version, updated_at = l.at
          FROM logged l
          JOIN locked k ON k.tenant_id = l.tenant_id AND k.box_id = l.box_id
         WHERE b.tenant_id = l.tenant_id AND b.box_id = l.box_id
        RETURNING k.ord, b.version, b.length
    LOOP
        done := done || ord;
        RETURN NEXT;
    END LOOP;
    IF cardinality(done) = count THEN
        RETURN;
    END IF;
    FOR i IN SELECT n FROM generate_series(1, count) AS n WHERE n <> ALL (done) LOOP
        ord := i;
        SELECT a.outcome, a.version, a.length INTO outcome, version, length
          FROM cardbox.append_ids(tenants[i], boxes[i], id_lists[i], expecteds[i], keys[i],
                                     waits AND count = 1) AS a;
        RETURN NEXT;
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.append_to_boxes TO cardbox_worker;
ALTER FUNCTION cardbox.append_to_boxes OWNER TO cardbox_writer;
