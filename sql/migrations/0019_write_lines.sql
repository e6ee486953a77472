-- A file's lines mostly go behind those that a session has, each an entry that is new and whose parent is
-- before it: such lines need not be compared with what is there, and are written with half the work.

-- Writes the entries that have been placed, and their cards. Of a line there is only the exact text, which
-- SQL can ask as well (raw ->> 'type'); a content of NULL would say that the card can't be read. Elements
-- are taken out of the arrays one by one, since unnest copies each line before it is copied into its row.
CREATE OR REPLACE FUNCTION cardbox.write_session_entries(
    tenant text, session text, ids text[], kinds integer[], raws json[],
    befores bytea[], afters bytea[], targets text[], labels json[], seqs bigint[], branches bigint[],
    depths integer[], parents bigint[], missings text[], outcomes integer[], made timestamptz)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    n      integer := cardinality(outcomes);
    prefix text := cardbox.session_card_prefix(session);
    wanted bigint;
    done   bigint;
    odd    text;
BEGIN
    INSERT INTO cardbox.session_entries (tenant_id, session_id, seq, entry_id, parent_seq, missing,
           depth, branch, kind, card_id, size, before, after, target, label)
    SELECT tenant, session, seqs[i], ids[i], parents[i], missings[i], depths[i], branches[i], kinds[i],
           prefix || lpad(to_hex(seqs[i]), 12, '0'), octet_length(raws[i]::text), befores[i], afters[i],
           targets[i], CASE WHEN targets[i] IS NOT NULL THEN labels[i] END
      FROM generate_series(1, n) AS g(i) WHERE outcomes[i] IN (1, 4);
    GET DIAGNOSTICS wanted = ROW_COUNT;
    INSERT INTO cardbox.cards (tenant_id, card_id, content, raw, metadata, created_at, sealed)
    SELECT tenant, prefix || lpad(to_hex(seqs[i]), 12, '0'), 'null', raws[i],
           jsonb_build_object(
               'type', (ARRAY['session.entry', 'session.message', 'session.thinking_level_change',
                              'session.model_change', 'session.compaction', 'session.branch_summary',
                              'session.custom', 'session.custom_message', 'session.label',
                              'session.session_info', 'session.user', 'session.assistant',
                              'session.tool', 'session.tool_result', 'session.system',
                              'session.metadata'])[kinds[i] % 256 + 1],
               'role', (ARRAY['user', 'assistant', 'tool', 'user', 'user', 'system'])[kinds[i] / 256],
               'session_id', session, 'entry_id', ids[i]),
           made, true
      FROM generate_series(1, n) AS g(i) WHERE outcomes[i] IN (1, 4)
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS done = ROW_COUNT;
    IF done < wanted THEN
        -- Some were there, as after an import of the project's cards alone: these lines, or others, or
        -- ones that are going to vanish?
        SELECT c.card_id INTO odd
          FROM unnest(seqs, raws, outcomes) AS u(seq, raw, outcome)
          JOIN cardbox.cards c ON c.tenant_id = tenant
           AND c.card_id = prefix || lpad(to_hex(u.seq), 12, '0')
         WHERE u.outcome IN (1, 4)
           AND (c.raw::text IS DISTINCT FROM u.raw::text OR NOT c.sealed OR c.deleted_at IS NOT NULL
                OR c.expires_at IS NOT NULL)
         LIMIT 1;
        IF FOUND THEN
            RAISE EXCEPTION 'card % is in the way of an entry of session %: give the session another id',
                odd, session USING ERRCODE = 'CB001';
        END IF;
    END IF;
END
$$;

-- Places new entries in the tree, of which the first may be a header: their parents are before them here
-- (parent_places above 0), the line before (-1), in the session or nowhere (-3), or there is none (0).
CREATE FUNCTION cardbox.place_entries(
    tenant text, session text, seqs bigint[], parents text[], parent_places integer[], kinds integer[],
    OUT outcomes integer[], OUT branches bigint[], OUT depths integer[], OUT ups bigint[],
    OUT missings text[])
LANGUAGE plpgsql AS $$
DECLARE
    n         integer := cardinality(seqs);
    first     integer := CASE WHEN kinds[1] < 0 THEN 2 ELSE 1 END;
    taken     boolean[] := array_fill(false, ARRAY[n]); -- it has a first child
    new_taken bigint[] := '{}'; -- the same of entries that are in the session
    up        integer;
    e         record;
BEGIN
    outcomes := array_fill(1, ARRAY[n]);
    branches := seqs;
    depths := array_fill(0, ARRAY[n]);
    ups := array_fill(NULL::bigint, ARRAY[n]);
    missings := array_fill(NULL::text, ARRAY[n]);
    IF first = 2 THEN
        outcomes[1] := 7;
    END IF;
    FOR i IN first .. n LOOP
        up := parent_places[i];
        IF up = -1 AND i > first THEN
            up := i - 1;
        END IF;
        IF up > 0 THEN
            ups[i] := seqs[up];
            depths[i] := depths[up] + 1;
            IF NOT taken[up] THEN
                taken[up] := true;
                branches[i] := branches[up];
            END IF;
            CONTINUE;
        ELSIF up = 0 THEN
            CONTINUE;
        ELSIF up = -1 THEN
            SELECT x.seq, x.branch, x.depth INTO e FROM cardbox.session_entries x
             WHERE x.tenant_id = tenant AND x.session_id = session ORDER BY x.seq DESC LIMIT 1;
        ELSE
            SELECT x.seq, x.branch, x.depth INTO e FROM cardbox.session_entries x
             WHERE x.tenant_id = tenant AND x.session_key = session AND x.entry_id = parents[i];
            IF NOT FOUND THEN
                outcomes[i] := 4;
                missings[i] := parents[i];
            END IF;
        END IF;
        CONTINUE WHEN e.seq IS NULL;
        ups[i] := e.seq;
        depths[i] := e.depth + 1;
        IF e.seq <> ALL (new_taken) AND NOT EXISTS (
               SELECT FROM cardbox.session_entries x
                WHERE x.tenant_id = tenant AND x.session_key = session AND x.branch = e.branch
                  AND x.depth = e.depth + 1) THEN
            branches[i] := e.branch;
        END IF;
        new_taken := new_taken || e.seq;
    END LOOP;
END
$$;

-- Imports lines that stand right behind the session's: entries, the first perhaps the file's header.
-- Gives no rows, and has done nothing, where the session is not as these want it, or has one of the ids.
CREATE FUNCTION cardbox.write_lines_behind(
    tenant text, session text, given_dialect integer, seqs bigint[], ids text[], parents text[],
    parent_places integer[], kinds integer[], raws json[], befores bytea[], afters bytea[],
    targets text[], labels json[])
RETURNS TABLE (place integer, outcome integer, seq bigint, version bigint)
LANGUAGE plpgsql AS $$
DECLARE
    n          integer := cardinality(kinds);
    has_header boolean := kinds[1] < 0;
    s          record;
    p          record;
    made       timestamptz;
BEGIN
    PERFORM cardbox.create_session(tenant, session, given_dialect, NULL, NULL, true);
    SELECT * INTO s FROM cardbox.sessions x
     WHERE x.tenant_id = tenant AND x.session_id = session FOR NO KEY UPDATE;
    IF seqs[1] <> s.last_seq + 1 OR s.open_end OR s.has_rings
       OR (has_header AND (s.header IS NOT NULL OR s.entries > 0)) THEN
        RETURN;
    END IF;
    SELECT * INTO p
      FROM cardbox.place_entries(tenant, session, seqs, parents, parent_places, kinds);
    made := clock_timestamp();
    PERFORM cardbox.write_session_entries(tenant, session, ids, kinds, raws, befores, afters, targets,
        labels, seqs, p.branches, p.depths, p.ups, p.missings, p.outcomes, made);
    IF has_header THEN
        INSERT INTO cardbox.session_lines (tenant_id, session_id, seq, ord, bytes)
        VALUES (tenant, session, seqs[1], 0, befores[1]);
    END IF;
    UPDATE cardbox.sessions x
       SET dialect = CASE WHEN s.entries > 0 OR s.header IS NOT NULL
                          THEN coalesce(x.dialect, given_dialect)
                          ELSE coalesce(given_dialect, x.dialect) END,
           header = CASE WHEN has_header THEN raws[1] ELSE x.header END,
           name = coalesce((SELECT labels[i] FROM generate_series(1, n) AS g(i)
                             WHERE kinds[i] % 256 = 9 AND labels[i] IS NOT NULL
                             ORDER BY i DESC LIMIT 1), x.name),
           head_seq = CASE WHEN kinds[n] < 0 THEN x.head_seq ELSE seqs[n] END,
           last_seq = seqs[n], last_ord = 0, entries = x.entries + n - has_header::integer,
           open_end = coalesce(cardbox.is_open_end(CASE WHEN kinds[n] < 0 THEN befores[n]
                                                        ELSE afters[n] END), false),
           version = x.version + 1, updated_at = greatest(made, x.updated_at)
     WHERE x.tenant_id = tenant AND x.session_id = session;
    RETURN QUERY SELECT 0, 1, CASE WHEN NOT has_header THEN seqs[1] ELSE seqs[2] END, s.version + 1;
    RETURN QUERY SELECT i, p.outcomes[i], CASE WHEN kinds[i] >= 0 THEN seqs[i] END, NULL::bigint
                   FROM generate_series(1, n) AS g(i);
EXCEPTION WHEN unique_violation THEN
    RETURN;
END
$$;

-- Writes lines to a session: by write_session, which says what all of this means, or by the short way
-- where that does. What a plan of these finds by a key it has to find by an index, also where it was made
-- when there was next to nothing to read, and is kept while a session grows. And it has to be kept:
-- one that is made for given parameters has copies of all lines in it.
CREATE FUNCTION cardbox.write_lines(
    tenant text, session text, import boolean, given_dialect integer, expected bigint, key text,
    seqs bigint[], ords integer[], ids text[], twins integer[], parents text[],
    parent_places integer[], kinds integer[], raws json[], befores bytea[], afters bytea[],
    targets text[], labels json[])
RETURNS TABLE (place integer, outcome integer, seq bigint, version bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    n integer := coalesce(cardinality(kinds), 0);
BEGIN
    IF import AND n > 0 AND key IS NULL AND expected IS NULL AND seqs[n] - seqs[1] = n - 1
       AND 0 = ALL (ords) AND 0 = ALL (twins) AND NOT parent_places && '{-2,-4,-5}'
       AND -1 <> ALL (kinds) AND -2 <> ALL (kinds[2:]) THEN
        RETURN QUERY SELECT * FROM cardbox.write_lines_behind(
            tenant, session, given_dialect, seqs, ids, parents, parent_places, kinds, raws, befores,
            afters, targets, labels);
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;
    RETURN QUERY SELECT * FROM cardbox.write_session(
        tenant, session, import, given_dialect, expected, key, seqs, ords, ids, twins, parents,
        parent_places, kinds, raws, befores, afters, targets, labels);
END
$$;

REVOKE EXECUTE ON FUNCTION cardbox.place_entries, cardbox.write_lines_behind, cardbox.write_lines FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.place_entries, cardbox.write_lines_behind, cardbox.write_lines
    TO cardbox_service, cardbox_worker;
