-- Deleting a session: its lines, and those cards of its entries that are no other session's entries.
--
-- Cards are shared by forks, and by sessions that were brought in with the cards of others. Why none goes
-- that somebody needs:
--   * Who deletes locks the session's row FOR UPDATE first, then its cards FOR UPDATE, in the order of their
--     ids, and only then looks, in a statement of its own and so with a new snapshot (READ COMMITTED, which
--     is checked), which of the cards are still entries of any session.
--   * A fork locks the row of the session that it copies FOR KEY SHARE: it was there before, and is seen, or
--     it waits, and then finds no session.
--   * Who makes an entry of a card that is there already locks that card FOR KEY SHARE: the writer of lines,
--     and an import of a project.
--   * Of two that delete sessions with common cards the second waits for the cards, and then sees what the
--     first has left.
-- All lock a session's row before cards. A session may be made anew under the id of one that is gone; where
-- forks keep cards of that, lines that differ from theirs are refused, as behind any card in the way.
CREATE INDEX session_entries_cards ON cardbox.session_entries (tenant_id, card_id);

-- A sealed card never changes again. What is dead, by expiry or by an import's deletion, may be removed
-- or be brought back, with the same content and sealed as before; and delete_session removes cards.
CREATE OR REPLACE FUNCTION cardbox.refuse_change_of_sealed() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('cardbox.deletes_session', true) = 'on' THEN
        RETURN OLD;
    END IF;
    IF OLD.deleted_at IS NOT NULL OR OLD.expires_at <= clock_timestamp() THEN
        IF TG_OP = 'DELETE' THEN
            RETURN OLD;
        END IF;
        IF NEW.sealed AND NEW.tenant_id = OLD.tenant_id AND NEW.card_id = OLD.card_id
           AND NEW.content IS NOT DISTINCT FROM OLD.content
           AND NEW.raw::text IS NOT DISTINCT FROM OLD.raw::text
           AND NEW.metadata IS NOT DISTINCT FROM OLD.metadata
           AND NEW.tool_calls IS NOT DISTINCT FROM OLD.tool_calls
           AND NEW.tool_call_id IS NOT DISTINCT FROM OLD.tool_call_id THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'card % is sealed', OLD.card_id USING ERRCODE = 'restrict_violation';
END
$$;

-- `entries` NULL: there is no such session. `cards`: how many went with it. What a session has is found by
-- indexes, also where PostgreSQL takes it for most of a small table.
CREATE FUNCTION cardbox.delete_session(
    tenant text, session text, OUT entries bigint, OUT cards bigint)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    ids text[];
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'deleting a session needs the isolation level read committed'
            USING ERRCODE = 'invalid_transaction_state';
    END IF;
    PERFORM FROM cardbox.sessions s WHERE s.tenant_id = tenant AND s.session_id = session FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT array_agg(c.card_id) INTO ids
      FROM (SELECT e.card_id FROM cardbox.session_entries e
             WHERE e.tenant_id = tenant AND e.session_id = session ORDER BY e.card_id OFFSET 0) AS k
     CROSS JOIN LATERAL (
            SELECT x.card_id FROM cardbox.cards x
             WHERE x.tenant_id = tenant AND x.card_id = k.card_id FOR UPDATE) AS c;
    DELETE FROM cardbox.session_entries e WHERE e.tenant_id = tenant AND e.session_id = session;
    GET DIAGNOSTICS entries = ROW_COUNT;
    DELETE FROM cardbox.session_lines l WHERE l.tenant_id = tenant AND l.session_id = session;
    DELETE FROM cardbox.session_keys k WHERE k.tenant_id = tenant AND k.session_id = session;
    DELETE FROM cardbox.sessions s WHERE s.tenant_id = tenant AND s.session_id = session;
    PERFORM set_config('cardbox.deletes_session', 'on', true);
    DELETE FROM cardbox.cards c
     WHERE c.tenant_id = tenant AND c.card_id = ANY (ids)
       AND NOT EXISTS (SELECT FROM cardbox.session_entries e
                        WHERE e.tenant_id = tenant AND e.card_id = c.card_id OFFSET 0);
    GET DIAGNOSTICS cards = ROW_COUNT;
    PERFORM set_config('cardbox.deletes_session', '', true);
    DELETE FROM cardbox.card_revisions r
     WHERE r.tenant_id = tenant AND r.card_id = ANY (ids)
       AND NOT EXISTS (SELECT FROM cardbox.cards c
                        WHERE c.tenant_id = tenant AND c.card_id = r.card_id OFFSET 0);
END
$$;

-- fork_session of a session that nobody deletes meanwhile.
CREATE FUNCTION cardbox.fork_held_session(
    tenant text, session text, entry text, new_session text,
    OUT outcome integer, OUT version bigint, OUT entries bigint)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM cardbox.sessions s
      WHERE s.tenant_id = tenant AND s.session_id = session FOR KEY SHARE;
    SELECT f.outcome, f.version, f.entries INTO outcome, version, entries
      FROM cardbox.fork_session(tenant, session, entry, new_session) AS f;
END
$$;

-- restore_session_lines with cards that nobody removes meanwhile. The session's row is locked before them.
CREATE FUNCTION cardbox.restore_held_lines(
    tenant text, session text, seqs bigint[], ords integer[], ids text[], parents text[], kinds integer[],
    cards text[], befores bytea[], afters bytea[], targets text[], labels json[], lines bytea[],
    rings text[])
RETURNS TABLE (place bigint, outcome integer)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM cardbox.restore_session_lines(tenant, session, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
                                          '{}', '{}', '{}', '{}');
    PERFORM FROM (SELECT u.id FROM unnest(cards) AS u(id) ORDER BY u.id COLLATE "C" OFFSET 0) AS k
      CROSS JOIN LATERAL (
            SELECT FROM cardbox.cards c
             WHERE c.tenant_id = tenant AND c.card_id = k.id COLLATE "C" FOR KEY SHARE) AS c;
    RETURN QUERY
    SELECT r.place, r.outcome
      FROM cardbox.restore_session_lines(tenant, session, seqs, ords, ids, parents, kinds, cards, befores,
                                         afters, targets, labels, lines, rings) AS r;
END
$$;

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
    were_there boolean := false;
    odd    text;
BEGIN
    INSERT INTO cardbox.session_entries (tenant_id, session_id, seq, entry_id, parent_seq, missing,
           depth, branch, kind, card_id, size, before, after, target, label)
    SELECT tenant, session, seqs[i], ids[i], parents[i], missings[i], depths[i], branches[i], kinds[i],
           prefix || lpad(to_hex(seqs[i]), 12, '0'), octet_length(raws[i]::text), befores[i], afters[i],
           targets[i], CASE WHEN targets[i] IS NOT NULL THEN labels[i] END
      FROM generate_series(1, n) AS g(i) WHERE outcomes[i] IN (1, 4);
    GET DIAGNOSTICS wanted = ROW_COUNT;
    LOOP
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
        EXIT WHEN done = wanted;
        were_there := true;
        -- One that goes with another session, while this waits for it, is written after all.
        PERFORM FROM generate_series(1, n) AS g(i)
          CROSS JOIN LATERAL (
                SELECT FROM cardbox.cards c
                 WHERE c.tenant_id = tenant AND c.card_id = prefix || lpad(to_hex(seqs[i]), 12, '0')
                   FOR KEY SHARE) AS c
          WHERE outcomes[i] IN (1, 4);
        GET DIAGNOSTICS done = ROW_COUNT;
        EXIT WHEN done = wanted;
    END LOOP;
    IF were_there THEN
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

-- A worker may not delete in whole tables, and so not sessions either: see 0013.
REVOKE EXECUTE ON FUNCTION cardbox.delete_session, cardbox.fork_held_session, cardbox.restore_held_lines
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.delete_session TO cardbox_service;
GRANT EXECUTE ON FUNCTION cardbox.fork_held_session, cardbox.restore_held_lines
    TO cardbox_service, cardbox_worker;
