-- write_session: writes lines to a session, and locks its row. The arrays are parallel, one element
-- a line:
--   import     a file is taken as it is: a missing parent makes an extra root, lines that are no
--              entries are kept, a missing session is made
--   seqs, ords position of the line in the file; not an import: NULL
--   ids        NULL: no entry
--   twins      number, from 1, of an earlier line here with that id, or 0
--   parents, parent_places  the parent's id, and the number of an earlier line here with that id;
--                           or 0 a root, -1 the entry before (parents: the last one of the batches
--                           before), -2 a parent that is no id, -3 not here, -4 itself; of the
--                           first line of an append -5 the head, which is then written into the
--                           line; but an entry that is there already keeps its parent, so that it
--                           can be sent again
--   kinds      as in the table; no entry: -1, a header: -2
--   raws       JSON of entries and headers
--   befores, afters  as in the table; before a line that is no entry: all of it
-- Returns a row for each line, and one with place 0 for the whole. Outcomes of a line:
--   1 appended  2 there already, as it is  3 its id is there with other content
--   4 appended as a root: its parent is missing  5 its parent is missing: refused
--   6 its own ancestor: refused  7 kept, no entry  8 not kept: the session differs from the file
--   9 an earlier line of the file is the same entry: kept, no entry
--   10 a label for an entry that is neither there nor before it: refused
--   11 of an import: there already, as it is; its parent is missing
-- Of the whole:
--   1 done  2 nothing to do, or done before  3 no such session  4 not the expected version
--   5 the key was used for other lines  6 lines were refused: nothing was written
--   7 the entries are of the other dialect: nothing was written
CREATE OR REPLACE FUNCTION cardbox.write_session(
    tenant text, session text, import boolean, given_dialect integer, expected bigint, key text,
    seqs bigint[], ords integer[], ids text[], twins integer[], parents text[],
    parent_places integer[], kinds integer[], raws json[], befores bytea[], afters bytea[],
    targets text[], labels json[])
RETURNS TABLE (place integer, outcome integer, seq bigint, version bigint)
LANGUAGE plpgsql
AS $$
DECLARE
    n         integer := coalesce(cardinality(kinds), 0);
    s         record;
    g         record;
    there     record;
    answered  record;
    whole     bytea;
    own_digest bytea;
    end_seq   bigint;
    end_ord   integer;
    first_seq bigint;
    diverged  boolean := false;
    refused   boolean := false;
    is_open   boolean;
    last_place integer; -- the last line here that is written behind the others
    is_new    boolean := false; -- the session was made here
    stands    boolean; -- a line that is an entry, but is kept as a line, is there already
    waiting   boolean := false; -- whether entries wait for one of these as their parent
    rings     bigint[];
    same      boolean;
    taken     boolean;
    new_taken bigint[] := '{}'; -- stored entries that get their first child here
    up        integer;
    from_id   text;      -- the parent of the first one, where it goes on from the head
    from_seq  bigint;    -- the parent
    from_branch bigint;
    from_depth integer;
    prev      integer := 0; -- the last line here that is an entry
    missing   text;
    outcomes  integer[] := array_fill(0, ARRAY[n]);
    a_seq     bigint[] := array_fill(NULL::bigint, ARRAY[n]);
    a_branch  bigint[] := a_seq;
    a_depth   integer[] := array_fill(NULL::integer, ARRAY[n]);
    a_parent  bigint[] := a_seq;
    a_missing text[] := array_fill(NULL::text, ARRAY[n]);
    a_taken   boolean[] := array_fill(NULL::boolean, ARRAY[n]); -- NULL: not new
    k_seq     bigint[] := a_seq; -- of lines that are kept
    k_ord     integer[] := array_fill(NULL::integer, ARRAY[n]);
    written   integer := 0;
    kept      integer := 0;
    head      bigint;
    new_name  json;
    new_header json;
    made      timestamptz;
BEGIN
    IF import THEN
        SELECT c.outcome = 1 INTO is_new
          FROM cardbox.create_session(tenant, session, given_dialect, NULL, NULL, true) AS c;
    END IF;
    SELECT * INTO s FROM cardbox.sessions x
     WHERE x.tenant_id = tenant AND x.session_id = session FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 0, 3, NULL::bigint, NULL::bigint;
        RETURN;
    END IF;
    IF key IS NOT NULL THEN
        own_digest := sha256(convert_to(array_to_string(raws, E'\n'), 'UTF8'));
        SELECT k.digest, k.version, k.first_seq INTO answered FROM cardbox.session_keys k
         WHERE k.tenant_id = tenant AND k.session_id = session AND k.append_key = key;
        IF FOUND THEN
            RETURN QUERY SELECT 0, CASE WHEN answered.digest = own_digest THEN 2 ELSE 5 END,
                                answered.first_seq,
                                CASE WHEN answered.digest = own_digest THEN answered.version
                                     ELSE s.version END;
            IF answered.digest = own_digest THEN
                RETURN QUERY SELECT u.n::integer, 2, e.seq, NULL::bigint
                  FROM unnest(ids) WITH ORDINALITY AS u(id, n)
                  JOIN cardbox.session_entries e
                    ON e.tenant_id = tenant AND e.session_key = session AND e.entry_id = u.id;
            END IF;
            RETURN;
        END IF;
    END IF;
    IF expected <> s.version THEN
        RETURN QUERY SELECT 0, 4, NULL::bigint, s.version;
        RETURN;
    END IF;
    IF NOT import AND given_dialect <> s.dialect AND (s.entries > 0 OR s.header IS NOT NULL) THEN
        RETURN QUERY SELECT 0, 7, NULL::bigint, s.version;
        RETURN;
    END IF;
    IF parent_places[1] = -5 THEN
        SELECT coalesce(p.entry_id, e.missing), c.content::text = raws[1]::text INTO from_id, same
          FROM cardbox.session_entries e
          JOIN cardbox.cards c ON c.tenant_id = tenant AND c.card_id = e.card_id
          LEFT JOIN cardbox.session_entries p
            ON p.tenant_id = tenant AND p.session_id = session AND p.seq = e.parent_seq
         WHERE e.tenant_id = tenant AND e.session_key = session AND e.entry_id = ids[1];
        IF NOT FOUND THEN
            SELECT e.entry_id INTO from_id FROM cardbox.session_entries e
             WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = s.head_seq;
        END IF;
        parents[1] := from_id;
        parent_places[1] := CASE WHEN from_id IS NULL THEN 0 ELSE -3 END;
        IF same IS NOT TRUE THEN -- a root may say nothing of a parent
            raws[1] := ('{"parentId":' || coalesce(to_json(from_id)::text, 'null') || ','
                        || substr(raws[1]::text, 2))::json;
        END IF;
    END IF;
    end_seq := s.last_seq;
    end_ord := s.last_ord;
    is_open := s.open_end;

    FOR g IN
        SELECT u.place, o.seq AS old_seq, o.branch AS old_branch, o.depth AS old_depth, o.card_id,
               p.seq AS up_seq, p.branch AS up_branch, p.depth AS up_depth, r.bytes AS ring,
               o.missing AS old_missing, t.entry_id AS at_id, t.branch AS at_branch, t.depth AS at_depth,
               t.missing AS at_missing, t.same AS at_same, t.is_ring AS at_ring
          FROM unnest(ids, parents, parent_places, seqs, ords, kinds, raws, befores, afters)
               WITH ORDINALITY AS u(id, parent, parent_place, seq, ord, kind, raw, before, after, place)
          LEFT JOIN LATERAL (SELECT * FROM cardbox.session_entries e
                              WHERE e.tenant_id = tenant AND e.session_key = session
                                AND e.entry_id BETWEEN u.id AND u.id
                              ORDER BY e.entry_id LIMIT 1) AS o ON true
          LEFT JOIN LATERAL (SELECT * FROM cardbox.session_entries e
                              WHERE e.tenant_id = tenant AND e.session_key = session
                                AND e.entry_id BETWEEN u.parent AND u.parent
                                AND u.parent_place IN (-1, -3)
                              ORDER BY e.entry_id LIMIT 1) AS p ON true
          LEFT JOIN LATERAL (SELECT k.bytes FROM cardbox.session_lines k
                              WHERE s.has_rings AND k.tenant_id = tenant AND k.session_id = session
                                AND k.ring_id = u.id LIMIT 1) AS r ON true
          -- What stands there already, of the whole batch at once; only whether it is the same, since
          -- lines may be long. A range of one, in order, is read by the one index that has that order,
          -- also where a plan was made when there was next to nothing to read.
          LEFT JOIN LATERAL (
               SELECT e.entry_id, e.branch, e.depth, e.missing,
                      u.kind >= 0 AND c.content::text = u.raw::text
                      AND coalesce(e.before, '') = coalesce(u.before, '')
                      AND coalesce(e.after, '\x0a') = coalesce(u.after, '\x0a') AS same, false AS is_ring
                 FROM (SELECT * FROM cardbox.session_entries x
                        WHERE import AND u.ord = 0 AND u.seq <= s.last_seq AND x.tenant_id = tenant
                          AND x.session_id = session AND x.seq BETWEEN u.seq AND u.seq
                        ORDER BY x.seq LIMIT 1) AS e
                CROSS JOIN LATERAL (SELECT x.content FROM cardbox.cards x
                                     WHERE x.tenant_id = tenant
                                       AND x.card_id BETWEEN e.card_id AND e.card_id
                                     ORDER BY x.card_id LIMIT 1) AS c
               UNION ALL
               SELECT NULL, NULL, NULL, NULL, k.bytes = CASE WHEN u.kind < 0 THEN u.before
                      ELSE cardbox.session_line(u.before, u.raw, u.after) END, k.ring_id IS NOT NULL
                 FROM cardbox.session_lines k
                WHERE import AND (u.seq, u.ord) <= (s.last_seq, s.last_ord) AND k.tenant_id = tenant
                  AND k.session_id = session AND k.seq = u.seq AND k.ord = u.ord
               OFFSET 0) AS t ON true
         ORDER BY u.place
    LOOP
        stands := false;
        -- Of a file that was imported before, or of which it is a longer version.
        IF import AND NOT diverged AND (seqs[g.place], ords[g.place]) <= (end_seq + 1, end_ord)
           AND (seqs[g.place], ords[g.place]) >= (end_seq, end_ord) THEN
            whole := CASE WHEN kinds[g.place] < 0 THEN befores[g.place]
                ELSE cardbox.session_line(befores[g.place], raws[g.place], afters[g.place]) END;
        END IF;
        IF import AND NOT diverged AND is_open AND end_ord > 0
           AND (seqs[g.place], ords[g.place]) IN ((end_seq, end_ord), (end_seq + 1, 0)) THEN
            -- The last line broke off then: is it whole now?
            UPDATE cardbox.session_lines k
               SET bytes = CASE WHEN seqs[g.place] = end_seq THEN whole ELSE '' END
             WHERE k.tenant_id = tenant AND k.session_id = session AND k.seq = end_seq
               AND k.ord = end_ord AND k.bytes <> whole
               AND substring(whole FOR octet_length(k.bytes)) = k.bytes;
            IF FOUND THEN
                is_open := seqs[g.place] = end_seq AND cardbox.is_open_end(whole);
                kept := kept + 1;
            END IF;
        END IF;
        IF import AND NOT diverged
           AND (seqs[g.place], ords[g.place]) <= (end_seq, end_ord) THEN
            same := coalesce(g.at_same, false);
            IF NOT same AND g.at_id = ids[g.place] THEN
                same := cardbox.is_named_line(tenant, session, seqs[g.place], raws[g.place]);
            END IF;
            IF NOT same AND (seqs[g.place], ords[g.place]) = (end_seq, end_ord) THEN
                SELECT * INTO there
                  FROM cardbox.session_line_at(tenant, session, seqs[g.place], ords[g.place]);
                same := coalesce(there.bytes = whole, false);
                IF NOT same AND is_open AND coalesce(there.entry_id = ids[g.place], true)
                   AND substring(whole FOR octet_length(there.bytes)) = there.bytes THEN
                    same := true; -- the last line had no end
                    is_open := false;
                    kept := kept + 1;
                    UPDATE cardbox.session_entries e SET after = coalesce(afters[g.place], '\x0a')
                     WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = end_seq
                       AND end_ord = 0;
                    UPDATE cardbox.session_lines k SET bytes = whole
                     WHERE k.tenant_id = tenant AND k.session_id = session AND k.seq = end_seq
                       AND k.ord = end_ord;
                END IF;
            END IF;
            IF same THEN
                outcomes[g.place] := CASE WHEN g.at_missing IS NULL THEN 2 ELSE 11 END;
                IF g.at_id IS NOT NULL THEN
                    a_seq[g.place] := seqs[g.place];
                    a_branch[g.place] := g.at_branch;
                    a_depth[g.place] := g.at_depth;
                    prev := g.place;
                END IF;
                CONTINUE WHEN g.at_id IS NOT NULL OR kinds[g.place] < 0;
                stands := true; -- what is wrong with it is said again
            END IF;
            diverged := NOT same;
        END IF;

        IF kinds[g.place] < 0 THEN
            IF diverged AND kinds[g.place] = -2 AND seqs[g.place] = 0 AND s.header IS NULL
               AND new_header IS NULL THEN
                -- The file's header comes late: it stands behind what is before the first entry.
                outcomes[g.place] := 7;
                new_header := raws[g.place];
                IF end_seq >= 0 AND cardbox.is_open_end(befores[g.place]) THEN
                    befores[g.place] := befores[g.place] || '\x0a';
                END IF;
                k_seq[g.place] := -1;
                k_ord[g.place] := (SELECT coalesce(max(k.ord), 0) + 1 FROM cardbox.session_lines k
                                    WHERE k.tenant_id = tenant AND k.session_id = session
                                      AND k.seq = -1);
                kept := kept + 1;
                IF end_seq = -1 THEN
                    end_ord := k_ord[g.place];
                    last_place := g.place;
                END IF;
                CONTINUE;
            ELSIF diverged THEN
                outcomes[g.place] := CASE WHEN kinds[g.place] = -2
                    AND raws[g.place]::text = s.header::text THEN 2 ELSE 8 END;
                CONTINUE;
            END IF;
            outcomes[g.place] := 7;
            IF kinds[g.place] = -2 AND s.header IS NULL AND new_header IS NULL AND s.entries = 0
               AND written = 0 THEN
                new_header := raws[g.place];
            END IF;
        ELSIF g.old_seq IS NOT NULL OR a_seq[twins[g.place]] IS NOT NULL THEN
            -- Its id is taken.
            IF g.old_seq IS NULL THEN
                up := twins[g.place];
                same := raws[g.place]::text = raws[up]::text;
                a_seq[g.place] := a_seq[up]; -- for children of this line, which are that one's
                a_branch[g.place] := a_branch[up];
                a_depth[g.place] := a_depth[up];
            ELSE
                SELECT c.content::text = raws[g.place]::text INTO same FROM cardbox.cards c
                 WHERE c.tenant_id = tenant AND c.card_id = g.card_id;
                IF import AND NOT same THEN
                    same := cardbox.is_named_line(tenant, session, g.old_seq, raws[g.place]);
                END IF;
                a_seq[g.place] := g.old_seq;
                a_branch[g.place] := g.old_branch;
                a_depth[g.place] := g.old_depth;
            END IF;
            outcomes[g.place] := CASE WHEN NOT same THEN 3
                                      WHEN NOT import THEN 2
                                      WHEN NOT diverged THEN 9
                                      WHEN g.old_missing IS NULL THEN 2 ELSE 11 END;
            IF diverged THEN
                prev := g.place; -- what names no parent goes on from the line before it in the file
            END IF;
            refused := refused OR (NOT import AND NOT same);
            CONTINUE WHEN NOT import OR diverged;
        ELSIF stands AND g.at_ring THEN
            outcomes[g.place] := 6;
            prev := g.place;
        ELSIF g.ring IS NOT NULL OR (twins[g.place] > 0 AND outcomes[twins[g.place]] = 6) THEN
            outcomes[g.place] := CASE WHEN position(convert_to(raws[g.place]::text, 'UTF8')
                IN coalesce(g.ring, convert_to(raws[twins[g.place]]::text, 'UTF8'))) > 0
                THEN 9 ELSE 3 END;
            refused := refused OR NOT import;
            CONTINUE WHEN NOT import OR diverged;
        ELSIF parent_places[g.place] = -4 THEN
            outcomes[g.place] := 6;
            prev := g.place; -- and what goes on from it has lost its parent
            refused := refused OR NOT import;
            CONTINUE WHEN NOT import OR diverged;
        END IF;
        CONTINUE WHEN stands;
        IF outcomes[g.place] > 0 THEN
            -- Kept as it is.
            k_seq[g.place] := seqs[g.place];
            k_ord[g.place] := ords[g.place];
            end_seq := seqs[g.place];
            end_ord := ords[g.place];
            last_place := g.place;
            kept := kept + 1;
            CONTINUE;
        END IF;

        -- Its parent.
        up := parent_places[g.place];
        from_seq := NULL;
        missing := NULL;
        taken := NULL;
        IF up = -1 AND prev > 0 THEN
            up := prev;
        ELSIF up IN (-1, -3) THEN
            from_seq := g.up_seq;
            from_branch := g.up_branch;
            from_depth := g.up_depth;
        END IF;
        IF up > 0 THEN
            from_seq := a_seq[up];
            from_branch := a_branch[up];
            from_depth := a_depth[up];
            WHILE a_taken[up] IS NULL AND twins[up] > 0 LOOP
                up := twins[up];
            END LOOP;
            taken := a_taken[up];
        END IF;
        IF from_seq IS NULL THEN
            missing := CASE WHEN up = -2 THEN '' WHEN up = prev AND parent_places[g.place] = -1 THEN ids[up]
                            ELSE parents[g.place] END;
        END IF;
        IF missing IS NOT NULL AND NOT import THEN
            outcomes[g.place] := 5;
            refused := true;
            CONTINUE;
        END IF;
        IF NOT import AND targets[g.place] IS NOT NULL AND NOT EXISTS (
               SELECT FROM cardbox.session_entries e
                WHERE e.tenant_id = tenant AND e.session_key = session
                  AND e.entry_id = targets[g.place])
           AND targets[g.place] <> ALL (ids[1 : g.place::integer - 1]) THEN
            outcomes[g.place] := 10;
            refused := true;
            CONTINUE;
        END IF;
        IF import AND NOT diverged THEN
            end_seq := seqs[g.place];
        ELSE
            end_seq := end_seq + 1;
        END IF;
        end_ord := 0;
        IF from_seq IS NOT NULL AND taken IS NULL THEN
            taken := from_seq = ANY (new_taken) OR EXISTS (
                SELECT FROM cardbox.session_entries e
                 WHERE e.tenant_id = tenant AND e.session_key = session AND e.branch = from_branch
                   AND e.depth = from_depth + 1);
            new_taken := new_taken || from_seq;
        ELSIF from_seq IS NOT NULL THEN
            a_taken[up] := true;
        END IF;
        outcomes[g.place] := CASE WHEN missing IS NULL THEN 1 ELSE 4 END;
        a_seq[g.place] := end_seq;
        a_parent[g.place] := from_seq;
        a_missing[g.place] := missing;
        a_depth[g.place] := coalesce(from_depth + 1, 0);
        a_branch[g.place] := CASE WHEN taken THEN end_seq ELSE coalesce(from_branch, end_seq) END;
        IF from_seq IS NULL THEN
            a_depth[g.place] := 0;
            a_branch[g.place] := end_seq;
        END IF;
        a_taken[g.place] := false;
        prev := g.place;
        last_place := g.place;
        head := end_seq;
        first_seq := coalesce(first_seq, end_seq);
        written := written + 1;
        IF kinds[g.place] % 256 = 9 AND labels[g.place] IS NOT NULL THEN
            new_name := labels[g.place];
        END IF;
    END LOOP;

    -- Entries of an imported file may wait for one of these as their parent. An import links them when
    -- all of it is there; and may find rings then, which an append may not make.
    IF NOT import AND written > 0 THEN
        waiting := EXISTS (SELECT FROM unnest(ids) AS u(id)
                            CROSS JOIN LATERAL (
                                   SELECT FROM cardbox.session_entries e
                                    WHERE e.tenant_id = tenant AND e.session_id = session
                                      AND e.missing BETWEEN u.id AND u.id
                                    ORDER BY e.missing LIMIT 1) AS w);
    END IF;
    IF waiting THEN
        rings := cardbox.session_rings(tenant, session, ids, a_seq, a_parent, first_seq);
        FOR i IN 1 .. n LOOP
            IF a_seq[i] = ANY (rings) AND outcomes[i] = 1 THEN
                outcomes[i] := 6;
                refused := true;
            END IF;
        END LOOP;
    END IF;
    IF refused THEN
        RETURN QUERY SELECT 0, 6, NULL::bigint, s.version;
        RETURN QUERY SELECT u.place::integer, u.outcome, NULL::bigint, NULL::bigint
                       FROM unnest(outcomes) WITH ORDINALITY AS u(outcome, place);
        RETURN;
    END IF;

    IF written + kept > 0 THEN
        made := clock_timestamp();
        IF is_open AND last_place IS NOT NULL THEN
            -- The last line is not what these go on with: what comes now is a line of its own.
            UPDATE cardbox.session_entries e SET after = e.after || '\x0a'
             WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = s.last_seq
               AND s.last_ord = 0;
            UPDATE cardbox.session_lines k SET bytes = k.bytes || '\x0a'
             WHERE k.tenant_id = tenant AND k.session_id = session AND k.seq = s.last_seq
               AND k.ord = s.last_ord;
        END IF;
        PERFORM cardbox.write_session_entries(tenant, session, ids, kinds, raws,
            befores, afters, targets, labels, a_seq, a_branch, a_depth, a_parent, a_missing, outcomes,
            made);
        IF kept > 0 THEN
            INSERT INTO cardbox.session_lines (tenant_id, session_id, seq, ord, bytes, ring_id)
            SELECT tenant, session, u.seq, u.ord,
                   CASE WHEN u.kind < 0 THEN u.before
                        ELSE cardbox.session_line(u.before, u.raw, u.after) END,
                   CASE WHEN u.outcome = 6 THEN u.id END
              FROM unnest(k_seq, k_ord, kinds, ids, raws, befores, afters, outcomes)
                   AS u(seq, ord, kind, id, raw, before, after, outcome)
             WHERE u.seq IS NOT NULL;
        END IF;
        UPDATE cardbox.sessions x
           SET dialect = CASE WHEN s.entries > 0 OR s.header IS NOT NULL THEN coalesce(x.dialect, given_dialect)
                              ELSE coalesce(given_dialect, x.dialect) END,
               header = coalesce(x.header, new_header),
               name = coalesce(new_name, x.name), head_seq = coalesce(head, x.head_seq),
               last_seq = end_seq, last_ord = end_ord, entries = x.entries + written,
               has_rings = x.has_rings OR 6 = ANY (outcomes),
               open_end = CASE
                   WHEN last_place IS NULL THEN is_open
                   ELSE coalesce(cardbox.is_open_end(CASE WHEN kinds[last_place] < 0
                                                          THEN befores[last_place]
                                                          ELSE afters[last_place] END), false) END,
               version = x.version + 1, updated_at = greatest(made, x.updated_at)
         WHERE x.tenant_id = tenant AND x.session_id = session;
        s.version := s.version + 1;
    END IF;
    IF waiting THEN
        PERFORM cardbox.settle_session(tenant, session);
        SELECT x.version INTO s.version FROM cardbox.sessions x
         WHERE x.tenant_id = tenant AND x.session_id = session;
    END IF;
    IF key IS NOT NULL THEN
        INSERT INTO cardbox.session_keys (tenant_id, session_id, append_key, digest, version, first_seq)
        VALUES (tenant, session, key, own_digest, s.version, coalesce(first_seq, -1));
    END IF;
    RETURN QUERY SELECT 0, CASE WHEN is_new OR written + kept > 0 THEN 1 ELSE 2 END, first_seq, s.version;
    RETURN QUERY SELECT u.place::integer, u.outcome, a_seq[u.place], NULL::bigint
                   FROM unnest(outcomes) WITH ORDINALITY AS u(outcome, place);
END
$$;
REVOKE ALL ON FUNCTION cardbox.write_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.write_session TO cardbox_service, cardbox_worker;
