-- Sessions: trees of entries. The line of an entry is a sealed card, its exact text in cards.raw; the
-- rows here order and link them.
--
-- A path is a few ranges. Every entry lies on a branch: the first child of an entry goes on with its
-- parent's branch, every other child, and every root, starts one, which is named by its own seq. So
-- the way from a root to an entry is one index range of (branch, depth) for each branch that it comes
-- through, leaves are the ends of branches, and only starts of branches make a branch point.
--
-- Where a line stands in the file is (seq, ord). seq counts headers and entries from 0, which is what
-- version 1's firstKeptEntryIndex counts; ord is 0 for those and counts the lines behind them that are
-- neither. A session can be given back to the byte, since lines that are no entries of the tree are
-- kept as they were, and so is what stands around an entry's JSON where that is not one line feed.
-- The same file comes to the same places again: an import compares, and writes what is new.
CREATE TABLE cardbox.sessions (
    tenant_id  text COLLATE "C" NOT NULL CHECK (octet_length(tenant_id) BETWEEN 1 AND 255),
    session_id text COLLATE "C" NOT NULL CHECK (octet_length(session_id) BETWEEN 1 AND 512),
    dialect    integer,         -- as session_dialect in the C code; NULL: nothing said so far
    header     json,            -- pi's; the line itself is in session_lines
    name       json,            -- what the last session_info says
    forked_from text COLLATE "C",
    head_seq   bigint,          -- the entry that one goes on from; NULL: none
    last_seq   bigint NOT NULL, -- the place of the last line; -1: none, or lines before the first
    last_ord   integer NOT NULL,
    open_end   boolean NOT NULL, -- the last line has no line feed
    has_rings  boolean NOT NULL DEFAULT false, -- there are lines with a ring_id
    entries    bigint NOT NULL,
    version    bigint NOT NULL, -- grows by one with every change
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, session_id)
);
CREATE INDEX sessions_by_time ON cardbox.sessions (tenant_id, created_at, session_id);

CREATE TABLE cardbox.session_entries (
    tenant_id  text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    seq        bigint NOT NULL,
    entry_id   text COLLATE "C" NOT NULL CHECK (octet_length(entry_id) BETWEEN 1 AND 512),
    parent_seq bigint,  -- NULL: a root
    missing    text COLLATE "C", -- the parent that a root names and that is not there; '' is no id
    depth      integer NOT NULL, -- entries above it
    branch     bigint NOT NULL,
    kind       integer NOT NULL, -- session_kind, and session_role times 256
    card_id    text COLLATE "C" NOT NULL,
    size       integer NOT NULL, -- bytes of the line's JSON
    before     bytea,   -- what stands before it in its line
    after      bytea,   -- and behind it; NULL: a line feed
    target     text COLLATE "C", -- of a label: the entry that it is for
    label      json,    -- and what it says; NULL takes the label away
    session_key text COLLATE "C" GENERATED ALWAYS AS (session_id) STORED,
    PRIMARY KEY (tenant_id, session_id, seq)
);
-- Why the session's id is there twice, and the order of these columns. Of a table that was just filled
-- PostgreSQL knows nothing, takes a session for one row, and so any index that begins with the session
-- for as good as the one that has the whole key: and reads all of the session for each entry that is
-- looked up, which was measured. So no two indexes that hold all rows begin alike, and what is looked up by id, branch or
-- parent names session_key, which the primary key has not.
CREATE UNIQUE INDEX session_entries_by_id ON cardbox.session_entries (tenant_id, entry_id, session_key);
CREATE INDEX session_entries_path ON cardbox.session_entries (tenant_id, branch, session_key, depth);
CREATE INDEX session_entries_starts ON cardbox.session_entries (tenant_id, session_key, parent_seq, seq)
    WHERE seq = branch;
CREATE INDEX session_entries_branches ON cardbox.session_entries (tenant_id, session_id, seq)
    WHERE seq = branch;
CREATE INDEX session_entries_missing ON cardbox.session_entries (tenant_id, session_id, seq)
    WHERE missing IS NOT NULL;
CREATE INDEX session_entries_labels ON cardbox.session_entries (tenant_id, session_key, target, seq)
    WHERE target IS NOT NULL;

-- Lines that are no entries of the tree: headers, blank and bad ones, second lines of one id.
CREATE TABLE cardbox.session_lines (
    tenant_id  text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    seq        bigint NOT NULL,
    ord        integer NOT NULL,
    bytes      bytea NOT NULL, -- with its end
    ring_id    text COLLATE "C", -- of an entry whose parents lead back to it: its id is taken
    PRIMARY KEY (tenant_id, session_id, seq, ord)
);
CREATE INDEX session_lines_rings ON cardbox.session_lines (tenant_id, session_id, ring_id)
    WHERE ring_id IS NOT NULL;

-- Changes that came with a key: a retry gets the first answer.
CREATE TABLE cardbox.session_keys (
    tenant_id  text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    append_key text COLLATE "C" NOT NULL,
    digest     bytea NOT NULL,
    version    bigint NOT NULL, -- after the change
    first_seq  bigint NOT NULL,
    PRIMARY KEY (tenant_id, session_id, append_key)
);

DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['sessions', 'session_entries', 'session_lines', 'session_keys'] LOOP
        EXECUTE format('ALTER TABLE cardbox.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE cardbox.%I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY service ON cardbox.%I TO cardbox_service
                        USING (true) WITH CHECK (true)', t);
        EXECUTE format('CREATE POLICY worker ON cardbox.%I TO cardbox_worker
                        USING (tenant_id IN (SELECT g.tenant_id FROM cardbox.tenant_grants g
                                              WHERE g.role_name = current_user))', t);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON cardbox.%I TO cardbox_service', t);
        EXECUTE format('GRANT SELECT, INSERT ON cardbox.%I TO cardbox_worker', t);
    END LOOP;
END
$$;
-- What an import may have to put right: parents that come later, rings, a last line that broke off.
-- Of columns only: who may update or delete in a whole table may also lock it, and keep other tenants
-- waiting.
GRANT UPDATE (dialect, header, name, forked_from, head_seq, last_seq, last_ord, open_end, has_rings,
              entries, version, updated_at) ON cardbox.sessions TO cardbox_worker;
GRANT UPDATE (parent_seq, missing, depth, branch, after) ON cardbox.session_entries TO cardbox_worker;
GRANT UPDATE (bytes) ON cardbox.session_lines TO cardbox_worker;

-- The card of a line: a UUID (version 8) of the session's id and the line's seq, so that the cards of a
-- session lie side by side in the index, in order.
CREATE FUNCTION cardbox.session_card_prefix(session text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-8' || substr(h, 13, 3) || '-8'
           || substr(h, 16, 3) || '-'
      FROM encode(sha256(convert_to(session, 'UTF8')), 'hex') AS h
$$;

-- A whole line of the file as it was.
CREATE FUNCTION cardbox.session_line(before bytea, raw json, after bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(before, '') || convert_to(raw::text, 'UTF8') || coalesce(after, '\x0a')
$$;

-- Makes a session, with a header's line or without. Outcomes: 1 made, 2 it is there, nothing was done,
-- 6 it is there, and it was to be new.
CREATE FUNCTION cardbox.create_session(
    tenant text, session text, given_dialect integer, given_header json, source text,
    may_exist boolean, OUT outcome integer, OUT version bigint)
LANGUAGE plpgsql AS $$
DECLARE
    made timestamptz := clock_timestamp();
BEGIN
    INSERT INTO cardbox.sessions (tenant_id, session_id, dialect, header, forked_from, last_seq,
                                  last_ord, open_end, entries, version, created_at, updated_at)
    VALUES (tenant, session, given_dialect, given_header, source,
            CASE WHEN given_header IS NULL THEN -1 ELSE 0 END, 0, false, 0, 1, made, made)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        outcome := CASE WHEN may_exist THEN 2 ELSE 6 END;
        SELECT s.version INTO create_session.version FROM cardbox.sessions s
         WHERE s.tenant_id = tenant AND s.session_id = session;
        RETURN;
    END IF;
    IF given_header IS NOT NULL THEN
        INSERT INTO cardbox.session_lines (tenant_id, session_id, seq, ord, bytes)
        VALUES (tenant, session, 0, 0, cardbox.session_line(NULL, given_header, NULL));
    END IF;
    outcome := 1;
    version := 1;
END
$$;

-- The line that stands at a place: an entry's, or one that was kept.
CREATE FUNCTION cardbox.session_line_at(
    tenant text, session text, at_seq bigint, at_ord integer,
    OUT entry_id text, OUT branch bigint, OUT depth integer, OUT bytes bytea)
LANGUAGE sql STABLE AS $$
    SELECT e.entry_id, e.branch, e.depth, cardbox.session_line(e.before, c.raw, e.after)
      FROM cardbox.session_entries e
      JOIN cardbox.cards c ON c.tenant_id = tenant AND c.card_id = e.card_id
     WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = at_seq AND at_ord = 0
    UNION ALL
    SELECT NULL, NULL, NULL, k.bytes FROM cardbox.session_lines k
     WHERE k.tenant_id = tenant AND k.session_id = session AND k.seq = at_seq AND k.ord = at_ord
$$;

CREATE FUNCTION cardbox.is_open_end(bytes bytea) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT octet_length(bytes) = 0 OR get_byte(bytes, octet_length(bytes) - 1) <> 10
$$;

-- Writes the entries that write_session has placed, and their cards. Of a line there is only the exact
-- text, which SQL can ask as well (raw ->> 'type'): making a jsonb of it, which nothing of ours reads,
-- was a seventh of what an import cost PostgreSQL, and half of what it wrote. A content of NULL would
-- say that the card can't be read.
CREATE FUNCTION cardbox.write_session_entries(
    tenant text, session text, ids text[], kinds integer[], raws json[],
    befores bytea[], afters bytea[], targets text[], labels json[], seqs bigint[], branches bigint[],
    depths integer[], parents bigint[], missings text[], outcomes integer[], made timestamptz)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    prefix text := cardbox.session_card_prefix(session);
    wanted bigint;
    done   bigint;
    odd    text;
BEGIN
    INSERT INTO cardbox.session_entries (tenant_id, session_id, seq, entry_id, parent_seq, missing,
           depth, branch, kind, card_id, size, before, after, target, label)
    SELECT tenant, session, u.seq, u.id, u.parent, u.missing, u.depth, u.branch, u.kind,
           prefix || lpad(to_hex(u.seq), 12, '0'), octet_length(u.raw::text), u.before, u.after,
           u.target, CASE WHEN u.target IS NOT NULL THEN u.label END
      FROM unnest(seqs, ids, parents, missings, depths, branches, kinds, raws, befores, afters,
                  targets, labels, outcomes)
           AS u(seq, id, parent, missing, depth, branch, kind, raw, before, after, target, label,
                outcome)
     WHERE u.outcome IN (1, 4);
    GET DIAGNOSTICS wanted = ROW_COUNT;
    INSERT INTO cardbox.cards (tenant_id, card_id, content, raw, metadata, created_at, sealed)
    SELECT tenant, prefix || lpad(to_hex(u.seq), 12, '0'), 'null', u.raw,
           jsonb_build_object(
               'type', (ARRAY['session.entry', 'session.message', 'session.thinking_level_change',
                              'session.model_change', 'session.compaction', 'session.branch_summary',
                              'session.custom', 'session.custom_message', 'session.label',
                              'session.session_info', 'session.user', 'session.assistant',
                              'session.tool', 'session.tool_result', 'session.system',
                              'session.metadata'])[u.kind % 256 + 1],
               'role', (ARRAY['user', 'assistant', 'tool', 'user', 'user', 'system'])[u.kind / 256],
               'session_id', session, 'entry_id', u.id),
           made, true
      FROM unnest(seqs, ids, kinds, raws, outcomes) AS u(seq, id, kind, raw, outcome)
     WHERE u.outcome IN (1, 4)
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

-- Writes lines to a session, whose row it locks: writers of one session queue up. Arrays are parallel, one
-- element a line.
--   import     what a file says is taken as it is: a parent that is not there makes an extra root, lines
--              that are no entries are kept; a session that is missing is made
--   seqs, ords where the file has the line; not of an import: NULL
--   ids        NULL: no entry
--   twins      the place, from 1, of an earlier line here with that id, or 0
--   parents, parent_places  the parent's id, and the place of an earlier line here with that id; or
--              0 a root, -1 the entry before, -2 a parent that is no id, -3 not here, -4 itself
--   kinds      as in the table; of no entry -1, of a header -2
--   raws       JSON of entries and headers
--   befores, afters  as in the table; before a line that is no entry: all of it
-- Gives a row for each line, and one of place 0 for the whole. Outcomes of a line:
--   1 appended          2 there already, as it is    3 its id is there with other content
--   4 appended as a root: its parent is missing      5 its parent is missing: refused
--   6 its own parent: refused    7 kept, no entry    8 not kept: the session is no longer like the file
--   9 an earlier line of the file is the same entry: kept, no entry
-- Of the whole: 1 done  2 nothing to do, or done before  3 no such session  4 wrong version
--   5 the key was used for other lines  6 lines were refused: nothing was written
CREATE FUNCTION cardbox.write_session(
    tenant text, session text, import boolean, given_dialect integer, expected bigint, key text,
    seqs bigint[], ords integer[], ids text[], twins integer[], parents text[],
    parent_places integer[], kinds integer[], raws json[], befores bytea[], afters bytea[],
    targets text[], labels json[])
RETURNS TABLE (place integer, outcome integer, seq bigint, version bigint)
LANGUAGE plpgsql AS $$
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
    end_seq := s.last_seq;
    end_ord := s.last_ord;
    is_open := s.open_end;

    FOR g IN
        SELECT u.place, o.seq AS old_seq, o.branch AS old_branch, o.depth AS old_depth, o.card_id,
               p.seq AS up_seq, p.branch AS up_branch, p.depth AS up_depth, r.bytes AS ring,
               t.entry_id AS at_id, t.branch AS at_branch, t.depth AS at_depth, t.same AS at_same,
               t.is_ring AS at_ring
          FROM unnest(ids, parents, parent_places, seqs, ords, kinds, raws, befores, afters)
               WITH ORDINALITY AS u(id, parent, parent_place, seq, ord, kind, raw, before, after, place)
          LEFT JOIN LATERAL (SELECT * FROM cardbox.session_entries e
                              WHERE e.tenant_id = tenant AND e.session_key = session
                                AND e.entry_id = u.id LIMIT 1) AS o ON true
          LEFT JOIN LATERAL (SELECT * FROM cardbox.session_entries e
                              WHERE e.tenant_id = tenant AND e.session_key = session
                                AND e.entry_id = u.parent AND u.parent_place = -3 LIMIT 1) AS p ON true
          LEFT JOIN LATERAL (SELECT k.bytes FROM cardbox.session_lines k
                              WHERE s.has_rings AND k.tenant_id = tenant AND k.session_id = session
                                AND k.ring_id = u.id LIMIT 1) AS r ON true
          -- What stands there already, of the whole batch at once; only whether it is the same, since
          -- lines may be long.
          LEFT JOIN LATERAL (
               SELECT e.entry_id, e.branch, e.depth,
                      u.kind >= 0 AND c.raw::text = u.raw::text
                      AND coalesce(e.before, '') = coalesce(u.before, '')
                      AND coalesce(e.after, '\x0a') = coalesce(u.after, '\x0a') AS same, false AS is_ring
                 FROM cardbox.session_entries e
                CROSS JOIN LATERAL (SELECT x.raw FROM cardbox.cards x
                                     WHERE x.tenant_id = tenant AND x.card_id = e.card_id
                                    OFFSET 0) AS c
                WHERE import AND u.ord = 0 AND u.seq <= s.last_seq AND e.tenant_id = tenant
                  AND e.session_id = session AND e.seq = u.seq
               UNION ALL
               SELECT NULL, NULL, NULL, k.bytes = CASE WHEN u.kind < 0 THEN u.before
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
                outcomes[g.place] := 2;
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
            IF diverged THEN
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
                SELECT c.raw::text = raws[g.place]::text INTO same FROM cardbox.cards c
                 WHERE c.tenant_id = tenant AND c.card_id = g.card_id;
                a_seq[g.place] := g.old_seq;
                a_branch[g.place] := g.old_branch;
                a_depth[g.place] := g.old_depth;
            END IF;
            outcomes[g.place] := CASE WHEN NOT same THEN 3
                                      WHEN import AND NOT diverged THEN 9 ELSE 2 END;
            IF diverged THEN
                prev := g.place; -- what names no parent goes on from the line before it in the file
            END IF;
            refused := refused OR (NOT import AND NOT same);
            CONTINUE WHEN NOT import OR diverged;
        ELSIF stands AND g.at_ring THEN
            outcomes[g.place] := 6;
        ELSIF g.ring IS NOT NULL OR (twins[g.place] > 0 AND outcomes[twins[g.place]] = 6) THEN
            outcomes[g.place] := CASE WHEN position(convert_to(raws[g.place]::text, 'UTF8')
                IN coalesce(g.ring, convert_to(raws[twins[g.place]]::text, 'UTF8'))) > 0
                THEN 9 ELSE 3 END;
            refused := refused OR NOT import;
            CONTINUE WHEN NOT import OR diverged;
        ELSIF parent_places[g.place] = -4 THEN
            outcomes[g.place] := 6;
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
        ELSIF up = -1 THEN
            SELECT e.seq, e.branch, e.depth INTO from_seq, from_branch, from_depth
              FROM cardbox.session_entries e
             WHERE e.tenant_id = tenant AND e.session_id = session ORDER BY e.seq DESC LIMIT 1;
        ELSIF up = -3 THEN
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
        IF from_seq IS NULL AND parent_places[g.place] NOT IN (0, -1) THEN
            missing := CASE WHEN up = -2 THEN '' ELSE parents[g.place] END;
        END IF;
        IF missing IS NOT NULL AND NOT import THEN
            outcomes[g.place] := 5;
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
        waiting := EXISTS (SELECT FROM cardbox.session_entries e
                            WHERE e.tenant_id = tenant AND e.session_id = session
                              AND e.missing IS NOT NULL AND e.missing = ANY (ids));
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
           SET dialect = coalesce(x.dialect, given_dialect), header = coalesce(x.header, new_header),
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

-- The line of an entry that goes out of the tree takes the entry's place: in the owner's name, since
-- workers have no right to delete.
CREATE FUNCTION cardbox.drop_ring_entry() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    DELETE FROM cardbox.session_entries e
     WHERE e.tenant_id = NEW.tenant_id AND e.session_id = NEW.session_id AND e.seq = NEW.seq
       AND e.entry_id = NEW.ring_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER session_lines_ring AFTER INSERT ON cardbox.session_lines
    FOR EACH ROW WHEN (NEW.ring_id IS NOT NULL) EXECUTE FUNCTION cardbox.drop_ring_entry();

-- After an import: entries whose parents came later are linked, and of each ring of parents the last line
-- is taken out of the tree and kept as a line; what hung on it becomes a root. Places change then, of any
-- entry of the session, in time that grows as its entries do. Gives the entries whose state changed:
-- outcome 1 linked, 6 out of the tree.
CREATE FUNCTION cardbox.settle_session(tenant text, session text)
RETURNS TABLE (entry_id text, outcome integer)
LANGUAGE plpgsql AS $$
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
        UPDATE cardbox.session_entries e SET parent_seq = p.seq, missing = NULL
          FROM cardbox.session_entries p
         WHERE e.tenant_id = tenant AND e.session_id = session AND e.missing IS NOT NULL
           AND p.tenant_id = tenant AND p.session_key = session AND p.entry_id = e.missing
        RETURNING e.seq)
    SELECT array_agg(f.seq) INTO linked FROM found f;
    IF linked IS NULL THEN
        RETURN;
    END IF;

    size := (s.last_seq + 1)::integer;
    SELECT array_agg(CASE WHEN e.seq IS NOT NULL THEN coalesce(e.parent_seq, -1) END ORDER BY g.at)
      INTO ups
      FROM generate_series(0, s.last_seq) AS g(at)
      LEFT JOIN cardbox.session_entries e
        ON e.tenant_id = tenant AND e.session_id = session AND e.seq = g.at;
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
        RETURN QUERY SELECT e.entry_id, 6 FROM cardbox.session_entries e
                      WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = ANY (rings);
        UPDATE cardbox.session_entries e SET parent_seq = NULL, missing = p.entry_id
          FROM cardbox.session_entries p
         WHERE e.tenant_id = tenant AND e.session_id = session AND e.parent_seq = ANY (rings)
           AND p.tenant_id = tenant AND p.session_id = session AND p.seq = e.parent_seq;
        INSERT INTO cardbox.session_lines (tenant_id, session_id, seq, ord, bytes, ring_id)
        SELECT tenant, session, r.seq, 0, l.bytes, l.entry_id
          FROM unnest(rings) AS r(seq)
         CROSS JOIN LATERAL cardbox.session_line_at(tenant, session, r.seq, 0) AS l;
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
    UPDATE cardbox.session_entries e SET depth = u.depth, branch = u.branch
      FROM unnest(depths, branches) WITH ORDINALITY AS u(depth, branch, place)
     WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = u.place - 1
       AND (e.depth, e.branch) IS DISTINCT FROM (u.depth, u.branch);
    UPDATE cardbox.sessions x
       SET version = x.version + 1, entries = x.entries - cardinality(rings),
           has_rings = x.has_rings OR cardinality(rings) > 0,
           updated_at = greatest(clock_timestamp(), x.updated_at),
           head_seq = CASE WHEN x.head_seq = ANY (rings) THEN (
               SELECT max(e.seq) FROM cardbox.session_entries e
                WHERE e.tenant_id = tenant AND e.session_id = session) ELSE x.head_seq END
     WHERE x.tenant_id = tenant AND x.session_id = session;
    RETURN QUERY SELECT e.entry_id, 1 FROM cardbox.session_entries e
                  WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = ANY (linked)
                    AND e.missing IS NULL;
END
$$;

-- Moves the head. `expected` is the entry that it must be at now, '' none, NULL any. Outcomes: 1 done
-- 2 it is there already  3 no such session  4 wrong version  5 the head is elsewhere: at `head`
-- 6 no such entry.
CREATE FUNCTION cardbox.move_session_head(
    tenant text, session text, entry text, expected text, expected_version bigint,
    OUT outcome integer, OUT version bigint, OUT head text)
LANGUAGE plpgsql AS $$
DECLARE
    s    record;
    goal bigint;
BEGIN
    SELECT * INTO s FROM cardbox.sessions x
     WHERE x.tenant_id = tenant AND x.session_id = session FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 3;
        RETURN;
    END IF;
    version := s.version;
    SELECT e.entry_id INTO head FROM cardbox.session_entries e
     WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = s.head_seq;
    IF expected_version <> s.version THEN
        outcome := 4;
        RETURN;
    END IF;
    IF expected <> coalesce(head, '') THEN
        outcome := 5;
        RETURN;
    END IF;
    SELECT e.seq INTO goal FROM cardbox.session_entries e
     WHERE e.tenant_id = tenant AND e.session_key = session AND e.entry_id = entry;
    IF goal IS NULL THEN
        outcome := 6;
        RETURN;
    END IF;
    head := entry;
    outcome := CASE WHEN goal = s.head_seq THEN 2 ELSE 1 END;
    IF outcome = 1 THEN
        version := s.version + 1;
        UPDATE cardbox.sessions x
           SET head_seq = goal, version = move_session_head.version,
               updated_at = greatest(clock_timestamp(), x.updated_at)
         WHERE x.tenant_id = tenant AND x.session_id = session;
    END IF;
END
$$;

-- The way from a root to an entry, as ranges: on each branch the entries up to a depth. Here and in the
-- statements OFFSET 0 keeps PostgreSQL from joining in another way than by an index, which it would do
-- where it knows nothing of a table that has just been filled. And the first from a key on is asked for
-- where the key itself is meant, and is there: the order makes only that index worth using which has
-- it, where another that merely begins with the tenant would look as good.
CREATE FUNCTION cardbox.session_path(tenant text, session text, from_seq bigint)
RETURNS TABLE (branch bigint, low integer, high integer)
LANGUAGE sql STABLE AS $$
    WITH RECURSIVE way AS (
        SELECT e.branch, e.depth FROM cardbox.session_entries e
         WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = from_seq
        UNION ALL
        SELECT p.branch, p.depth
          FROM way w
         CROSS JOIN LATERAL (
                SELECT x.parent_seq FROM cardbox.session_entries x
                 WHERE x.tenant_id = tenant AND x.session_id = session AND x.seq >= w.branch
                 ORDER BY x.seq LIMIT 1) AS f
         CROSS JOIN LATERAL (
                SELECT x.branch, x.depth FROM cardbox.session_entries x
                 WHERE x.tenant_id = tenant AND x.session_id = session AND x.seq >= f.parent_seq
                 ORDER BY x.seq LIMIT 1) AS p
    )
    SELECT w.branch, (lead(w.depth, 1, -1) OVER (ORDER BY w.depth DESC) + 1), w.depth FROM way w
$$;

-- Of entries that are about to be appended from first_seq on, those that would be their own ancestors as
-- soon as the roots that wait for them are linked. A step goes from an entry to its parent, if that is new
-- too, or else to the new one that the root above it waits for.
CREATE FUNCTION cardbox.session_rings(
    tenant text, session text, ids text[], seqs bigint[], parents bigint[], first_seq bigint)
RETURNS bigint[]
LANGUAGE sql STABLE AS $$
    WITH RECURSIVE new AS MATERIALIZED (
        SELECT u.id, u.seq, u.parent FROM unnest(ids, seqs, parents) AS u(id, seq, parent)
         WHERE u.seq >= first_seq
    ), step AS MATERIALIZED (
        SELECT n.seq, CASE WHEN n.parent >= first_seq THEN n.parent ELSE (
                   SELECT m.seq
                     FROM cardbox.session_path(tenant, session, n.parent) AS w
                    CROSS JOIN LATERAL (
                           SELECT e.missing FROM cardbox.session_entries e
                            WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = w.branch
                           OFFSET 0) AS root
                     JOIN new m ON m.id = root.missing
                    WHERE w.low = 0 LIMIT 1) END AS up
          FROM new n WHERE n.parent IS NOT NULL
    ), way AS (
        SELECT n.seq AS start, p.up AS at
          FROM cardbox.session_entries e
          JOIN new n ON n.id = e.missing
          JOIN step p ON p.seq = n.seq
         WHERE e.tenant_id = tenant AND e.session_id = session AND e.missing IS NOT NULL
        UNION
        SELECT w.start, p.up FROM way w JOIN step p ON p.seq = w.at
    )
    SELECT coalesce(array_agg(w.start), '{}') FROM way w WHERE w.start = w.at
$$;

-- A new session of the path to an entry, '' the head. Its entries keep their places and their cards, so
-- that nothing is copied but rows that link. A header says where it comes from, as long as the line
-- stays under the 512 bytes that some readers look at. Outcomes: 1 done  3 no such session  5 no such
-- entry  6 the new session exists.
CREATE FUNCTION cardbox.fork_session(
    tenant text, session text, entry text, new_session text,
    OUT outcome integer, OUT version bigint, OUT entries bigint)
LANGUAGE plpgsql AS $$
DECLARE
    s      record;
    goal   bigint;
    header text;
    made   timestamptz := clock_timestamp();
BEGIN
    SELECT * INTO s FROM cardbox.sessions x WHERE x.tenant_id = tenant AND x.session_id = session;
    IF NOT FOUND THEN
        outcome := 3;
        RETURN;
    END IF;
    goal := s.head_seq;
    IF entry <> '' THEN
        SELECT e.seq INTO goal FROM cardbox.session_entries e
         WHERE e.tenant_id = tenant AND e.session_key = session AND e.entry_id = entry;
    END IF;
    IF goal IS NULL THEN
        outcome := 5;
        RETURN;
    END IF;
    IF s.header IS NOT NULL THEN
        -- The first that fits; or the shortest.
        SELECT f.header INTO header
          FROM (VALUES (1, session, 512), (2, NULL, 512), (3, session, 200), (4, NULL, 200))
               AS v(place, source, most)
         CROSS JOIN LATERAL (SELECT cardbox.fork_header(s.header, new_session, v.source, made, v.most)
                            OFFSET 0) AS f(header)
         WHERE octet_length(f.header) < 512 OR v.place = 4
         ORDER BY v.place LIMIT 1;
    END IF;
    SELECT c.outcome, c.version INTO outcome, version
      FROM cardbox.create_session(tenant, new_session, s.dialect, header::json, session, false) AS c;
    IF outcome <> 1 THEN
        RETURN;
    END IF;
    INSERT INTO cardbox.session_entries (tenant_id, session_id, seq, entry_id, parent_seq, missing,
           depth, branch, kind, card_id, size, before, after, target, label)
    SELECT e.tenant_id, new_session, e.seq, e.entry_id, e.parent_seq, e.missing, e.depth,
           min(e.seq) FILTER (WHERE e.depth = 0) OVER (), e.kind, e.card_id, e.size, e.before,
           CASE WHEN cardbox.is_open_end(e.after) THEN '\x0a' ELSE e.after END, e.target, e.label
      FROM cardbox.session_path(tenant, session, goal) AS w
     CROSS JOIN LATERAL (
            SELECT * FROM cardbox.session_entries x
             WHERE x.tenant_id = tenant AND x.session_key = session AND x.branch = w.branch
               AND x.depth BETWEEN w.low AND w.high
            OFFSET 0) AS e;
    GET DIAGNOSTICS entries = ROW_COUNT;
    UPDATE cardbox.sessions x
       SET head_seq = goal, entries = fork_session.entries,
           last_seq = (SELECT max(e.seq) FROM cardbox.session_entries e
                        WHERE e.tenant_id = tenant AND e.session_id = new_session),
           name = (SELECT (c.content -> 'name')::text::json FROM cardbox.session_entries e
                     JOIN cardbox.cards c ON c.tenant_id = tenant AND c.card_id = e.card_id
                    WHERE e.tenant_id = tenant AND e.session_id = new_session AND e.kind % 256 = 9
                      AND length(c.content ->> 'name') > 0
                    ORDER BY e.seq DESC LIMIT 1)
     WHERE x.tenant_id = tenant AND x.session_id = new_session;
END
$$;

-- The header of a fork: the source's with another id and time. Fields of their own that are long are
-- left out, and all of them where the header is one that PostgreSQL can't take apart.
CREATE FUNCTION cardbox.fork_header(old json, new_id text, source text, made timestamptz, most integer)
RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    header text := '{"type":"session","id":' || to_json(new_id) || ',"timestamp":'
        || to_json(to_char(made AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        || coalesce(',"parentSession":' || to_json(source), '');
BEGIN
    RETURN header || coalesce((
        SELECT string_agg(',' || to_json(o.key) || ':' || o.value, '' ORDER BY o.place)
          FROM json_each(old) WITH ORDINALITY AS o(key, value, place)
         WHERE o.key IN ('version', 'cwd', 'provider', 'modelId', 'thinkingLevel')
           AND octet_length(o.value::text) < most), '') || '}';
EXCEPTION WHEN data_exception THEN
    RETURN header || ',"version":3}';
END
$$;

DO $$
DECLARE
    f text;
BEGIN
    FOREACH f IN ARRAY ARRAY['drop_ring_entry', 'session_card_prefix', 'session_line', 'session_rings',
                             'session_line_at', 'is_open_end',
                             'create_session', 'write_session_entries', 'write_session',
                             'settle_session', 'move_session_head', 'session_path', 'fork_session',
                             'fork_header'] LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION cardbox.%I FROM PUBLIC', f);
        EXECUTE format('GRANT EXECUTE ON FUNCTION cardbox.%I TO cardbox_service, cardbox_worker', f);
    END LOOP;
END
$$;
