-- restore_session_lines: adds lines of a session of a project's export, at the positions and with
-- the cards that they had, so that forks go on sharing them. The links between entries are computed
-- here, and not taken from the file. The arrays are parallel.
-- Outcomes: 1 new  2 unchanged  3 the last line got its end
--   4 the session has another line there, or the id elsewhere, or lacks the lines before; all later
--   lines get 4 too  5 no card that can be an entry's
CREATE OR REPLACE FUNCTION cardbox.restore_session_lines(
    tenant text, session text, seqs bigint[], ords integer[], ids text[], parents text[], kinds integer[],
    cards text[], befores bytea[], afters bytea[], targets text[], labels json[], lines bytea[],
    rings text[])
RETURNS TABLE (place bigint, outcome integer)
LANGUAGE plpgsql
AS $$
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
    is_new  boolean;
BEGIN
    is_new := cardbox.lock_restored_session(tenant, session);
    SELECT * INTO s FROM cardbox.sessions x
     WHERE x.tenant_id = tenant AND x.session_id = session;
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
            SELECT octet_length(c.content::text) INTO size FROM cardbox.cards c
             WHERE c.tenant_id = tenant AND c.card_id = g.card AND c.sealed AND c.deleted_at IS NULL
               AND c.expires_at IS NULL AND json_typeof(c.content) = 'object'
               AND strpos(c.content::text, E'\n') = 0
               AND (c.metadata ->> 'entry_id' = g.id -- written by a session: a line that was looked at
                    OR (SELECT CASE WHEN r.line ->> 'id' IS NULL THEN json_typeof(r.line -> 'type') = 'string'
                                    ELSE json_typeof(r.line -> 'id') = 'string' AND r.line ->> 'id' = g.id END
                               AND (r.line ->> 'type' IS DISTINCT FROM 'session' OR r.line -> 'parentId' IS NOT NULL)
                          FROM (SELECT cardbox.readable_line(c.content) AS line) AS r));
            SELECT e.seq, e.branch, e.depth INTO up FROM cardbox.session_entries e
             WHERE e.tenant_id = tenant AND e.session_key = session AND e.entry_id = g.parent;
            IF size IS NULL THEN
                outcome := 5;
            ELSIF (is_new OR up.seq IS NOT NULL OR coalesce(g.parent, '') = '')
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
    IF written > 0 AND NOT is_new THEN
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
REVOKE ALL ON FUNCTION cardbox.restore_session_lines FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.restore_session_lines TO cardbox_service, cardbox_worker;
