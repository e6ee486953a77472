-- A session is deleted in parts, each a transaction that is over soon however long the session is. With the
-- first it is gone, since it is its row that says there is one; what is left of its lines and cards goes
-- part by part, by whoever deletes it, and by the collector where he could not go on. Until all has gone no
-- session can be made under its id: its lines and cards stand where those of the new one would.
CREATE TABLE cardbox.session_remains (
    tenant_id  text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, session_id)
);
ALTER TABLE cardbox.session_remains ENABLE ROW LEVEL SECURITY;
ALTER TABLE cardbox.session_remains FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON cardbox.session_remains TO cardbox_service USING (true) WITH CHECK (true);
CREATE POLICY worker ON cardbox.session_remains TO cardbox_worker
    USING (tenant_id IN (SELECT g.tenant_id FROM cardbox.tenant_grants g WHERE g.role_name = current_user));
GRANT SELECT, INSERT, UPDATE, DELETE ON cardbox.session_remains TO cardbox_service;
GRANT SELECT ON cardbox.session_remains TO cardbox_worker;

-- After the row was inserted, which waits for a deletion of its id, and so sees what that has left.
CREATE FUNCTION cardbox.refuse_session_of_remains() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM cardbox.session_remains r
      WHERE r.tenant_id = NEW.tenant_id AND r.session_id = NEW.session_id;
    IF FOUND THEN
        RAISE EXCEPTION 'the session % that was deleted has not gone yet: try again in a moment',
            NEW.session_id USING ERRCODE = 'CB001';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER sessions_remains AFTER INSERT ON cardbox.sessions
    FOR EACH ROW EXECUTE FUNCTION cardbox.refuse_session_of_remains();

-- Removes up to `most` entries of a session that is no more, whose remains the caller has locked, and those
-- of their cards that are no other session's entries; as many of its other lines; and as many keys. The last
-- entries go first, so that who is on the way from one to its root finds all of it or its end. Why no card
-- goes that somebody needs: see delete_session when it was made. `more`: not all has gone.
CREATE FUNCTION cardbox.remove_session_part(
    tenant text, session text, most bigint, OUT entries bigint, OUT entry_bytes bigint,
    OUT cards bigint, OUT card_bytes bigint, OUT more boolean)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    ids   text[];
    first bigint;
    others bigint;
BEGIN
    SELECT array_agg(k.card_id ORDER BY k.card_id), min(k.seq) INTO ids, first
      FROM (SELECT e.card_id, e.seq FROM cardbox.session_entries e
             WHERE e.tenant_id = tenant AND e.session_id = session ORDER BY e.seq DESC LIMIT most) AS k;
    PERFORM FROM unnest(ids) AS k(id) -- in this order
      CROSS JOIN LATERAL (
            SELECT FROM cardbox.cards c
             WHERE c.tenant_id = tenant AND c.card_id BETWEEN k.id AND k.id
             ORDER BY c.card_id LIMIT 1 FOR UPDATE) AS c;
    WITH removed AS (
        DELETE FROM cardbox.session_entries e
         WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq >= first
        RETURNING pg_column_size(e.*) AS bytes)
    SELECT count(*), coalesce(sum(r.bytes), 0) INTO entries, entry_bytes FROM removed r;
    PERFORM set_config('cardbox.deletes_session', 'on', true);
    WITH unused AS MATERIALIZED (
        SELECT c.place, c.card_id
          FROM unnest(ids) AS k(id)
         CROSS JOIN LATERAL (
                SELECT x.ctid AS place, x.card_id FROM cardbox.cards x
                 WHERE x.tenant_id = tenant AND x.card_id BETWEEN k.id AND k.id
                 ORDER BY x.card_id LIMIT 1) AS c
         WHERE NOT EXISTS (SELECT FROM cardbox.session_entries e
                            WHERE e.tenant_id = tenant AND e.card_id = c.card_id OFFSET 0)
    ), removed AS (
        DELETE FROM cardbox.cards c WHERE c.ctid = ANY (ARRAY (SELECT u.place FROM unused u))
        RETURNING cardbox.card_bytes(c.content, c.raw, c.metadata) AS bytes
    ), unrevised AS (
        DELETE FROM cardbox.card_revisions r
         WHERE r.ctid = ANY (ARRAY (
                SELECT v.place FROM unused u
                 CROSS JOIN LATERAL (
                        SELECT x.ctid AS place FROM cardbox.card_revisions x
                         WHERE x.tenant_id = tenant AND x.card_id = u.card_id
                        OFFSET 0) AS v))
    )
    SELECT count(*), coalesce(sum(r.bytes), 0) INTO cards, card_bytes FROM removed r;
    PERFORM set_config('cardbox.deletes_session', '', true);
    more := entries >= most;
    DELETE FROM cardbox.session_lines l
     WHERE l.ctid = ANY (ARRAY (SELECT x.ctid FROM cardbox.session_lines x
                                 WHERE x.tenant_id = tenant AND x.session_id = session
                                 ORDER BY x.seq, x.ord LIMIT most));
    GET DIAGNOSTICS others = ROW_COUNT;
    more := more OR others >= most;
    DELETE FROM cardbox.session_keys k
     WHERE k.ctid = ANY (ARRAY (SELECT x.ctid FROM cardbox.session_keys x
                                 WHERE x.tenant_id = tenant AND x.session_id = session
                                 ORDER BY x.append_key LIMIT most));
    GET DIAGNOSTICS others = ROW_COUNT;
    more := more OR others >= most;
    IF NOT more THEN
        DELETE FROM cardbox.session_remains r WHERE r.tenant_id = tenant AND r.session_id = session;
    END IF;
END
$$;

-- Deletes a session, or goes on with that, up to `most` entries. `entries` NULL: there is no such session,
-- nor anything left of one; else how many went, and how many cards with them.
DROP FUNCTION cardbox.delete_session(text, text);
CREATE FUNCTION cardbox.delete_session(
    tenant text, session text, most bigint, OUT entries bigint, OUT cards bigint, OUT more boolean)
LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'deleting a session needs the isolation level read committed'
            USING ERRCODE = 'invalid_transaction_state';
    END IF;
    DELETE FROM cardbox.sessions s WHERE s.tenant_id = tenant AND s.session_id = session;
    IF FOUND THEN
        INSERT INTO cardbox.session_remains (tenant_id, session_id) VALUES (tenant, session);
    ELSE
        PERFORM FROM cardbox.session_remains r
          WHERE r.tenant_id = tenant AND r.session_id = session FOR UPDATE;
        IF NOT FOUND THEN
            RETURN;
        END IF;
    END IF;
    SELECT p.entries, p.cards, p.more INTO entries, cards, more
      FROM cardbox.remove_session_part(tenant, session, most) AS p;
END
$$;

-- The collector's part: up to `most` entries of sessions that nobody else is deleting.
CREATE FUNCTION cardbox.collect_sessions(
    most bigint, OUT entries bigint, OUT entry_bytes bigint, OUT cards bigint, OUT card_bytes bigint,
    OUT more boolean)
LANGUAGE plpgsql AS $$
DECLARE
    r record;
    p record;
BEGIN
    entries := 0;
    entry_bytes := 0;
    cards := 0;
    card_bytes := 0;
    more := false;
    WHILE entries < most LOOP
        SELECT x.tenant_id, x.session_id INTO r FROM cardbox.session_remains x LIMIT 1 FOR UPDATE SKIP LOCKED;
        EXIT WHEN NOT FOUND;
        SELECT * INTO p FROM cardbox.remove_session_part(r.tenant_id, r.session_id, most - entries);
        entries := entries + p.entries;
        entry_bytes := entry_bytes + p.entry_bytes;
        cards := cards + p.cards;
        card_bytes := card_bytes + p.card_bytes;
        more := p.more;
        EXIT WHEN more;
    END LOOP;
END
$$;

-- What batches of collect_sessions would remove in all.
CREATE FUNCTION cardbox.collectable_sessions(
    OUT entries bigint, OUT entry_bytes bigint, OUT cards bigint, OUT card_bytes bigint)
LANGUAGE sql STABLE AS $$
    WITH dead AS MATERIALIZED (
        SELECT e.tenant_id, e.card_id, e.bytes
          FROM cardbox.session_remains r
         CROSS JOIN LATERAL (
                SELECT x.tenant_id, x.card_id, pg_column_size(x.*) AS bytes FROM cardbox.session_entries x
                 WHERE x.tenant_id = r.tenant_id AND x.session_id = r.session_id
                OFFSET 0) AS e
    ), unused AS (
        SELECT c.bytes
          FROM (SELECT DISTINCT d.tenant_id, d.card_id FROM dead d) AS k
         CROSS JOIN LATERAL (
                SELECT cardbox.card_bytes(x.content, x.raw, x.metadata) AS bytes FROM cardbox.cards x
                 WHERE x.tenant_id = k.tenant_id AND x.card_id = k.card_id
                OFFSET 0) AS c
         WHERE NOT EXISTS (
                SELECT FROM cardbox.session_entries e
                 WHERE e.tenant_id = k.tenant_id AND e.card_id = k.card_id
                   AND (e.tenant_id, e.session_id) NOT IN (
                        SELECT r.tenant_id, r.session_id FROM cardbox.session_remains r)
                OFFSET 0)
    )
    SELECT (SELECT count(*) FROM dead), (SELECT coalesce(sum(d.bytes), 0) FROM dead d),
           (SELECT count(*) FROM unused), (SELECT coalesce(sum(u.bytes), 0) FROM unused u)
$$;

REVOKE EXECUTE ON FUNCTION cardbox.refuse_session_of_remains, cardbox.remove_session_part,
    cardbox.delete_session, cardbox.collect_sessions, cardbox.collectable_sessions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.refuse_session_of_remains TO cardbox_service, cardbox_worker;
GRANT EXECUTE ON FUNCTION cardbox.remove_session_part, cardbox.delete_session, cardbox.collect_sessions,
    cardbox.collectable_sessions TO cardbox_service;
