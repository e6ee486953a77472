-- What took longer in large projects than what it is about, found in one of a million cards, and in small ones of
-- which PostgreSQL was told that they are large (tests/store/test_costs.py).

-- A page that an index gives in order was now and then made of all rows there are, sorted: of rows that PostgreSQL has
-- no statistics of (0051) it expects a handful, and reads a handful rather in the order of their pages than in that of
-- an index, since a page that lies elsewhere costs four times as much. Where it costs the same, which is nearer to what
-- disks are today, nothing speaks against the index. For jit see 0001; connections ask for it as well.
DO $$
BEGIN
    EXECUTE format('ALTER DATABASE %I SET random_page_cost = 1', current_database());
END
$$;

-- Of cards between two times that have a type, a step, a turn or a trace, PostgreSQL expects so few that all the cards
-- of that time were read and sorted for a page of them.
ALTER FUNCTION cardbox.list_cards(
    text, text, text, text, text, text, text[], jsonb, timestamptz, timestamptz, timestamptz, text, bigint, bigint)
    SET enable_sort = off;

-- An append asks whether entries wait for one of those that it brings: of each by its id, where it looked at all that
-- wait. The order names the index, see session_path. The rest of write_session is as in 0042.
CREATE INDEX session_entries_waiting ON cardbox.session_entries (tenant_id, session_id, missing)
    WHERE missing IS NOT NULL;
DROP INDEX cardbox.session_entries_missing;
DO $$
DECLARE
    old  CONSTANT text := $old$EXISTS (SELECT FROM cardbox.session_entries e
                            WHERE e.tenant_id = tenant AND e.session_id = session
                              AND e.missing IS NOT NULL AND e.missing = ANY (ids))$old$;
    new  CONSTANT text := $new$EXISTS (SELECT FROM unnest(ids) AS u(id)
                            CROSS JOIN LATERAL (
                                   SELECT FROM cardbox.session_entries e
                                    WHERE e.tenant_id = tenant AND e.session_id = session
                                      AND e.missing BETWEEN u.id AND u.id
                                    ORDER BY e.missing LIMIT 1) AS w)$new$;
    said text;
BEGIN
    SELECT pg_get_functiondef(p.oid) INTO STRICT said FROM pg_proc p
     WHERE p.pronamespace = 'cardbox'::regnamespace AND p.proname = 'write_session';
    ASSERT position(old IN said) > 0;
    EXECUTE replace(said, old, new);
END
$$;

-- An entry that is linked moves those below it: the others are looked at here, since a statement that is planned with
-- an array has it flat, where each element is looked for from the first one on. In a session of 100,000 entries that
-- took 24 seconds. The rest of settle_session is as in 0052.
DO $$
DECLARE
    old_depths CONSTANT text := $old$UPDATE cardbox.session_entries e SET depth = depths[e.seq + 1], branch = branches[e.seq + 1]
     WHERE e.tenant_id = tenant AND e.session_id = session
       AND (e.depth, e.branch) IS DISTINCT FROM (depths[e.seq + 1], branches[e.seq + 1]);$old$;
    new_depths CONSTANT text := $new$FOR at, high, first IN SELECT e.seq, e.depth, e.branch FROM cardbox.session_entries e
                            WHERE e.tenant_id = tenant AND e.session_id = session LOOP
        IF (high, first) IS DISTINCT FROM (depths[at + 1], branches[at + 1]) THEN
            high := depths[at + 1];
            first := branches[at + 1];
            UPDATE cardbox.session_entries e SET depth = high, branch = first
             WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = at;
        END IF;
    END LOOP;$new$;
    old_rings CONSTANT text := $old$e.parent_seq >= 0
           AND ups[e.parent_seq + 1] IS NULL$old$;
    new_rings CONSTANT text := $new$e.parent_seq = ANY (rings)$new$;
    said text;
BEGIN
    SELECT pg_get_functiondef(p.oid) INTO STRICT said FROM pg_proc p
     WHERE p.pronamespace = 'cardbox'::regnamespace AND p.proname = 'settle_session';
    ASSERT position(old_depths IN said) > 0 AND position(old_rings IN said) > 0;
    EXECUTE replace(replace(said, old_depths, new_depths), old_rings, new_rings);
END
$$;

-- A page of the boxes that hold a card now, newest first, each with whether it is one of the page (1), and whether the
-- look ended at it (2), or both (3). Sealed segments are found by their index. Of the short tails there is none, since
-- it would make every append write up to 64 index entries: so the boxes of the tenant are looked through, and no more
-- than `walk` of them. A card that is in very many segments, as one that all boxes begin with, is not looked for
-- everywhere for the sake of one page: each box is asked by itself then, from its beginning on, and of segments, too,
-- no more are read than `walk`, but for those of one box. (That there are many is seen by their index, of which a page
-- names hundreds of them.)
CREATE FUNCTION cardbox.boxes_holding(
    tenant text, card text, most bigint, from_time timestamptz, from_id uuid, walk bigint)
RETURNS TABLE (said bigint, box_id uuid, version bigint, length bigint, parent_ids jsonb, created_at timestamptz,
               updated_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_sort = off AS $$
DECLARE
    few    CONSTANT integer := 1000;
    chains uuid[]; -- that hold it, or more than a few of them
    b      record;
    place  bigint; -- of the first segment with it
    seen   bigint := 0;
    given  bigint := 0;
    fits   boolean;
BEGIN
    IF NOT cardbox.session_sees(tenant) THEN
        RETURN;
    END IF;
    WITH RECURSIVE holding AS ( -- see chains_with_card
        SELECT s.chain_id, s.start
          FROM cardbox.card_box_segments s
         WHERE CASE WHEN s.tenant_id = tenant THEN s.card_ids ? card END
           AND cardbox.id_keys(s.tenant_id, s.card_ids) @> ARRAY[cardbox.id_key(tenant, card)]
        UNION
        SELECT c.chain_id, h.start
          FROM holding h
         CROSS JOIN LATERAL (
                SELECT x.chain_id FROM cardbox.card_box_chains x
                 WHERE x.tenant_id = tenant AND x.parent_chain_id = h.chain_id AND x.parent_length > h.start
                OFFSET 0) AS c
    )
    SELECT array_agg(f.chain_id) INTO chains FROM (SELECT h.chain_id FROM holding h LIMIT few + 1) AS f;

    FOR b IN
        SELECT x.box_id, x.version, x.length, x.parent_ids, x.created_at, x.updated_at, x.chain_id,
               x.tail ? card AS in_tail, x.chain_id IN (SELECT u.id FROM unnest(chains) AS u(id)) AS in_chain
          FROM cardbox.card_boxes x
         WHERE x.tenant_id = tenant AND CASE WHEN x.deleted_at IS NULL THEN true ELSE false END -- see boxes_list
           AND (x.created_at, x.box_id) < (from_time, from_id)
         ORDER BY x.created_at DESC, x.box_id DESC
    LOOP
        seen := seen + 1;
        fits := b.in_tail OR b.in_chain;
        IF NOT fits AND cardinality(chains) > few AND b.length >= 64 THEN
            WITH RECURSIVE lineage AS (
                SELECT b.chain_id AS chain_id, b.length AS ceiling, 0 AS climbed
                UNION ALL
                SELECT c.parent_chain_id, least(l.ceiling, c.parent_length), l.climbed + 1
                  FROM lineage l
                 CROSS JOIN LATERAL (
                        SELECT p.parent_chain_id, p.parent_length FROM cardbox.card_box_chains p
                         WHERE p.tenant_id = tenant AND p.chain_id = l.chain_id OFFSET 0) AS c
                 WHERE l.climbed < 256)
            SELECT s.start INTO place
              FROM (SELECT * FROM lineage ORDER BY climbed DESC) AS l
             CROSS JOIN LATERAL (
                    SELECT x.start FROM cardbox.card_box_segments x
                     WHERE x.tenant_id = tenant AND x.chain_id = l.chain_id AND x.start < l.ceiling
                       AND x.card_ids ? card
                     ORDER BY x.start LIMIT 1) AS s
             LIMIT 1;
            fits := FOUND;
            walk := walk - CASE WHEN fits THEN place ELSE b.length END / 64;
        END IF;
        IF fits OR seen >= walk THEN
            given := given + 1;
            said := fits::integer + CASE WHEN seen >= walk THEN 2 ELSE 0 END;
            SELECT b.box_id, b.version, b.length, b.parent_ids, b.created_at, b.updated_at
              INTO box_id, version, length, parent_ids, created_at, updated_at;
            RETURN NEXT;
            EXIT WHEN given >= most OR seen >= walk;
        END IF;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION cardbox.boxes_holding FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.boxes_holding TO cardbox_service, cardbox_worker;
