-- settle_session: after an import: links entries whose parents came later. Of each ring of parents
-- the last line is taken out of the tree and kept as a line; its children become roots. The
-- positions in the tree of any entry may change, in time that grows with the session. Returns the
-- entries whose state changed:
--   1 linked  4 a root now, since its parent left the tree  6 out of the tree
-- It joins nothing, and looks each row's parent up: PostgreSQL took joins that read the whole
-- session each time for cheap.
CREATE OR REPLACE FUNCTION cardbox.settle_session(tenant text, session text)
RETURNS TABLE (entry_id text, outcome integer, seq bigint)
LANGUAGE plpgsql
AS $$
DECLARE
    s        record;
    linked   bigint[];
    rings    bigint[] := '{}';
    ups      bigint[];   -- by seq + 1: the parent's seq; -1: a root; NULL: no entry
    walks    bigint[];
    firsts   bigint[];   -- first child
    depths   integer[];
    branches bigint[];
    way      bigint[];
    at       bigint;
    first    bigint;
    last     bigint;
    size     integer;
    high     integer;
BEGIN
    SELECT * INTO s FROM cardbox.sessions x
     WHERE x.tenant_id = tenant AND x.session_id = session FOR NO KEY UPDATE;
    WITH found AS (
        UPDATE cardbox.session_entries e SET missing = NULL, parent_seq = (
               SELECT p.seq FROM cardbox.session_entries p
                WHERE p.tenant_id = tenant AND p.session_key = session AND p.entry_id = e.missing)
         WHERE e.tenant_id = tenant AND e.session_id = session AND e.missing IS NOT NULL
           AND (SELECT p.seq FROM cardbox.session_entries p
                 WHERE p.tenant_id = tenant AND p.session_key = session AND p.entry_id = e.missing) >= 0
        RETURNING e.seq)
    SELECT array_agg(f.seq) INTO linked FROM found f;
    IF linked IS NULL THEN
        RETURN;
    END IF;

    size := (s.last_seq + 1)::integer;
    ups := array_fill(NULL::bigint, ARRAY[size]);
    FOR at, first IN SELECT e.seq, coalesce(e.parent_seq, -1) FROM cardbox.session_entries e
                      WHERE e.tenant_id = tenant AND e.session_id = session LOOP
        ups[at + 1] := first;
    END LOOP;
    walks := array_fill(0::bigint, ARRAY[size]);
    FOR i IN 0 .. size - 1 LOOP
        at := i;
        WHILE at >= 0 AND ups[at + 1] IS NOT NULL AND walks[at + 1] = 0 LOOP
            walks[at + 1] := i + 1;
            at := ups[at + 1];
        END LOOP;
        IF at >= 0 AND ups[at + 1] IS NOT NULL AND walks[at + 1] = i + 1 THEN
            first := at;
            last := at;
            WHILE ups[at + 1] <> first LOOP
                at := ups[at + 1];
                last := greatest(last, at);
            END LOOP;
            rings := rings || last;
            ups[last + 1] := NULL;
        END IF;
    END LOOP;
    IF cardinality(rings) > 0 THEN
        RETURN QUERY SELECT e.entry_id, 6, e.seq FROM cardbox.session_entries e
                      WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = ANY (rings);
        RETURN QUERY
        UPDATE cardbox.session_entries e SET parent_seq = NULL, missing = (
               SELECT p.entry_id FROM cardbox.session_entries p
                WHERE p.tenant_id = tenant AND p.session_id = session AND p.seq = e.parent_seq)
         WHERE e.tenant_id = tenant AND e.session_id = session AND e.parent_seq = ANY (rings)
        RETURNING e.entry_id, 4, e.seq;
        INSERT INTO cardbox.session_lines (tenant_id, session_id, seq, ord, bytes, ring_id)
        SELECT tenant, session, r.seq, 0, l.bytes, l.entry_id
          FROM unnest(rings) AS r(seq)
         CROSS JOIN LATERAL cardbox.session_line_at(tenant, session, r.seq, 0) AS l
         ORDER BY ( -- they go in this order, in which who deletes sessions locks cards
               SELECT e.card_id FROM cardbox.session_entries e
                WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = r.seq);
    END IF;

    firsts := array_fill(NULL::bigint, ARRAY[size]);
    FOR i IN 0 .. size - 1 LOOP
        IF ups[i + 1] >= 0 AND ups[ups[i + 1] + 1] IS NULL THEN
            ups[i + 1] := -1; -- its parent was taken out
        END IF;
        IF ups[i + 1] >= 0 AND firsts[ups[i + 1] + 1] IS NULL THEN
            firsts[ups[i + 1] + 1] := i;
        END IF;
    END LOOP;
    depths := array_fill(NULL::integer, ARRAY[size]);
    branches := array_fill(NULL::bigint, ARRAY[size]);
    way := array_fill(NULL::bigint, ARRAY[size]);
    FOR i IN 0 .. size - 1 LOOP
        CONTINUE WHEN ups[i + 1] IS NULL;
        at := i;
        high := 0;
        WHILE at >= 0 AND depths[at + 1] IS NULL LOOP
            high := high + 1;
            way[high] := at;
            at := ups[at + 1];
        END LOOP;
        WHILE high > 0 LOOP
            last := at; -- the parent of the next one down
            at := way[high];
            high := high - 1;
            depths[at + 1] := CASE WHEN last < 0 THEN 0 ELSE depths[last + 1] + 1 END;
            branches[at + 1] := CASE WHEN last >= 0 AND firsts[last + 1] = at
                                     THEN branches[last + 1] ELSE at END;
        END LOOP;
    END LOOP;
    FOR at, high, first IN SELECT e.seq, e.depth, e.branch FROM cardbox.session_entries e
                            WHERE e.tenant_id = tenant AND e.session_id = session LOOP
        IF (high, first) IS DISTINCT FROM (depths[at + 1], branches[at + 1]) THEN
            high := depths[at + 1];
            first := branches[at + 1];
            UPDATE cardbox.session_entries e SET depth = high, branch = first
             WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = at;
        END IF;
    END LOOP;
    UPDATE cardbox.sessions x
       SET version = x.version + 1, entries = x.entries - cardinality(rings),
           has_rings = x.has_rings OR cardinality(rings) > 0,
           updated_at = greatest(clock_timestamp(), x.updated_at),
           head_seq = CASE WHEN x.head_seq = ANY (rings) THEN (
               SELECT max(e.seq) FROM cardbox.session_entries e
                WHERE e.tenant_id = tenant AND e.session_id = session) ELSE x.head_seq END
     WHERE x.tenant_id = tenant AND x.session_id = session;
    RETURN QUERY SELECT e.entry_id, 1, e.seq FROM cardbox.session_entries e
                  WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = ANY (linked)
                    AND e.missing IS NULL;
END
$$;
REVOKE ALL ON FUNCTION cardbox.settle_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.settle_session TO cardbox_service, cardbox_worker;
