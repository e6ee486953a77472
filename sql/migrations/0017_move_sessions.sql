-- Sessions out of an export. First come the lines, at the places that they had, entries with the cards that
-- they had, so that forks go on sharing them; then the session itself, which is what makes it whole: until
-- then its version is 0. What links entries is worked out here again, and is not taken from the file.

-- Outcomes of a line: 1 new  2 unchanged  3 the last line has got its end  4 the session has another line
-- there, or the id elsewhere, or lacks the lines before  5 there is no card that can be an entry's.
-- Behind a line of outcome 4 nothing is taken: the session has gone another way than the file's.
CREATE FUNCTION cardbox.restore_session_lines(
    tenant text, session text, seqs bigint[], ords integer[], ids text[], parents text[], kinds integer[],
    cards text[], befores bytea[], afters bytea[], targets text[], labels json[], lines bytea[],
    rings text[])
RETURNS TABLE (place bigint, outcome integer)
LANGUAGE plpgsql AS $$
DECLARE
    s       record;
    g       record;
    old     record;
    kept    record;
    up      record;
    size    integer;
    taken   boolean;
    parted  boolean := false;
    written bigint := 0;
    added   bigint := 0;
    ringed  boolean := false;
BEGIN
    INSERT INTO cardbox.sessions (tenant_id, session_id, last_seq, last_ord, open_end, entries, version,
                                  created_at, updated_at)
    VALUES (tenant, session, -1, 0, false, 0, 0, clock_timestamp(), clock_timestamp())
    ON CONFLICT DO NOTHING;
    SELECT * INTO s FROM cardbox.sessions x
     WHERE x.tenant_id = tenant AND x.session_id = session FOR NO KEY UPDATE;
    FOR g IN
        SELECT u.* FROM unnest(seqs, ords, ids, parents, kinds, cards, befores, afters, targets, labels,
                               lines, rings)
               WITH ORDINALITY AS u(seq, ord, id, parent, kind, card, before, after, target, label, line,
                                    ring, place)
         ORDER BY u.place
    LOOP
        place := g.place;
        outcome := 4;
        SELECT e.entry_id, coalesce(p.entry_id, e.missing) AS parent, e.card_id, e.before, e.after INTO old
          FROM cardbox.session_entries e
          LEFT JOIN cardbox.session_entries p
            ON p.tenant_id = tenant AND p.session_id = session AND p.seq = e.parent_seq
         WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = g.seq AND g.ord = 0;
        SELECT k.bytes, k.ring_id INTO kept FROM cardbox.session_lines k
         WHERE k.tenant_id = tenant AND k.session_id = session AND k.seq = g.seq AND k.ord = g.ord;
        IF parted THEN
            NULL;
        ELSIF old.entry_id IS NOT NULL THEN
            IF (old.entry_id, old.parent, old.card_id, old.before)
               IS NOT DISTINCT FROM (g.id, g.parent, g.card, g.before) THEN
                IF old.after IS NOT DISTINCT FROM g.after THEN
                    outcome := 2;
                ELSIF g.after = old.after || '\x0a' THEN
                    outcome := 3;
                    UPDATE cardbox.session_entries e SET after = g.after
                     WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = g.seq;
                END IF;
            END IF;
        ELSIF kept.bytes IS NOT NULL THEN
            IF g.id IS NULL AND kept.ring_id IS NOT DISTINCT FROM g.ring THEN
                IF kept.bytes = g.line THEN
                    outcome := 2;
                ELSIF g.line = kept.bytes || '\x0a' THEN
                    outcome := 3;
                    UPDATE cardbox.session_lines k SET bytes = g.line
                     WHERE k.tenant_id = tenant AND k.session_id = session AND k.seq = g.seq
                       AND k.ord = g.ord;
                END IF;
            END IF;
        ELSIF g.id IS NULL THEN
            outcome := 1;
            INSERT INTO cardbox.session_lines (tenant_id, session_id, seq, ord, bytes, ring_id)
            VALUES (tenant, session, g.seq, g.ord, g.line, g.ring);
            ringed := ringed OR g.ring IS NOT NULL;
        ELSE
            SELECT octet_length(c.raw::text) INTO size FROM cardbox.cards c
             WHERE c.tenant_id = tenant AND c.card_id = g.card AND c.sealed AND c.deleted_at IS NULL
               AND c.expires_at IS NULL AND json_typeof(c.raw) = 'object'
               AND strpos(c.raw::text, E'\n') = 0
               AND (c.content = 'null' -- written by a session here: a line that was looked at
                    OR (CASE WHEN c.content ->> 'id' IS NULL THEN jsonb_typeof(c.content -> 'type') = 'string'
                             ELSE jsonb_typeof(c.content -> 'id') = 'string' AND c.content ->> 'id' = g.id END
                        AND (c.content ->> 'type' IS DISTINCT FROM 'session' OR c.content ? 'parentId')));
            SELECT e.seq, e.branch, e.depth INTO up FROM cardbox.session_entries e
             WHERE e.tenant_id = tenant AND e.session_key = session AND e.entry_id = g.parent;
            IF size IS NULL THEN
                outcome := 5;
            ELSIF (s.version = 0 OR up.seq IS NOT NULL OR coalesce(g.parent, '') = '')
                  AND NOT EXISTS (SELECT FROM cardbox.session_entries e
                                   WHERE e.tenant_id = tenant AND e.session_key = session
                                     AND e.entry_id = g.id) THEN
                outcome := 1;
                taken := up.seq IS NOT NULL AND EXISTS (
                    SELECT FROM cardbox.session_entries e
                     WHERE e.tenant_id = tenant AND e.session_key = session AND e.branch = up.branch
                       AND e.depth = up.depth + 1);
                INSERT INTO cardbox.session_entries (tenant_id, session_id, seq, entry_id, parent_seq,
                       missing, depth, branch, kind, card_id, size, before, after, target, label)
                VALUES (tenant, session, g.seq, g.id, up.seq,
                        CASE WHEN up.seq IS NULL THEN g.parent END, coalesce(up.depth + 1, 0),
                        CASE WHEN taken OR up.seq IS NULL THEN g.seq ELSE up.branch END, g.kind, g.card,
                        size, g.before, g.after, g.target, g.label);
                added := added + 1;
            END IF;
        END IF;
        parted := parted OR outcome = 4;
        IF outcome = 1 THEN
            written := written + 1;
            IF (g.seq, g.ord) > (s.last_seq, s.last_ord) THEN
                s.last_seq := g.seq;
                s.last_ord := g.ord;
            END IF;
        END IF;
        RETURN NEXT;
    END LOOP;
    IF written > 0 THEN
        UPDATE cardbox.sessions x
           SET last_seq = s.last_seq, last_ord = s.last_ord, entries = x.entries + added,
               has_rings = x.has_rings OR ringed,
               head_seq = coalesce(x.head_seq, (
                   SELECT max(e.seq) FROM cardbox.session_entries e
                    WHERE e.tenant_id = tenant AND e.session_id = session))
         WHERE x.tenant_id = tenant AND x.session_id = session;
    END IF;
END
$$;

-- Outcomes: 1 made  2 nothing to do: it is at this version or a later one  3 brought to this version
-- 4 it has not the head.
CREATE FUNCTION cardbox.restore_session(
    tenant text, session text, given_dialect integer, given_header json, given_name json, source text,
    head text, given_version bigint, created timestamptz, updated timestamptz)
RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    s    record;
    goal bigint;
BEGIN
    PERFORM cardbox.restore_session_lines(tenant, session, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
                                          '{}', '{}', '{}', '{}');
    SELECT * INTO s FROM cardbox.sessions x
     WHERE x.tenant_id = tenant AND x.session_id = session FOR NO KEY UPDATE;
    IF s.version >= given_version THEN
        RETURN 2;
    END IF;
    PERFORM cardbox.settle_session(tenant, session); -- parents that stand behind their children
    SELECT e.seq INTO goal FROM cardbox.session_entries e
     WHERE e.tenant_id = tenant AND e.session_key = session AND e.entry_id = head;
    IF goal IS NULL AND head IS NOT NULL THEN
        RETURN 4;
    END IF;
    UPDATE cardbox.sessions x
       SET dialect = given_dialect, header = given_header, name = given_name, forked_from = source,
           head_seq = goal, version = given_version, created_at = coalesce(created, x.created_at), updated_at = coalesce(updated, x.updated_at),
           open_end = coalesce((SELECT cardbox.is_open_end(l.bytes)
                                  FROM cardbox.session_line_at(tenant, session, s.last_seq, s.last_ord) AS l),
                               false)
     WHERE x.tenant_id = tenant AND x.session_id = session;
    RETURN CASE WHEN s.version = 0 THEN 1 ELSE 3 END;
END
$$;

GRANT UPDATE (created_at) ON cardbox.sessions TO cardbox_worker;
REVOKE EXECUTE ON FUNCTION cardbox.restore_session_lines, cardbox.restore_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.restore_session_lines, cardbox.restore_session
    TO cardbox_service, cardbox_worker;
