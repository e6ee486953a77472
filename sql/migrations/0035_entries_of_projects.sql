-- PostgreSQL is not to know how many entries a project or a session has. Of one that came since it looked it
-- takes for sure that there is next to nothing, finds all indexes alike that begin with the project, and then
-- reads all of a project's entries for each that is looked up. Where it knows nothing it takes a project for
-- a part of the table, and a whole key is worth naming.
--
-- What it knew goes with the column's type, which stays what it is; policies that name the column are in the
-- way of that. No index but the small ones of some rows is made anew.
DROP POLICY service ON cardbox.session_entries;
DROP POLICY worker ON cardbox.session_entries;
ALTER TABLE cardbox.session_entries ALTER COLUMN tenant_id TYPE text COLLATE "C",
                                    ALTER COLUMN tenant_id SET STATISTICS 0,
                                    ALTER COLUMN session_id SET STATISTICS 0,
                                    ALTER COLUMN session_key SET STATISTICS 0;
CREATE POLICY service ON cardbox.session_entries TO cardbox_service USING (true) WITH CHECK (true);
CREATE POLICY worker ON cardbox.session_entries TO cardbox_worker
    USING (tenant_id IN (SELECT g.tenant_id FROM cardbox.tenant_grants g WHERE g.role_name = current_user));

-- The same of cards, whose statistics serve lists: a range of one, in order, is read by the one index that
-- has that order, also where a plan was made when there was next to nothing to read.

-- Writes the entries that have been placed, and their cards. Of a line there is only the exact text, which
-- SQL can ask as well (raw ->> 'type'); a content of NULL would say that the card can't be read. Elements
-- are taken out of the arrays one by one, since unnest copies each line before it is copied into its row.
CREATE OR REPLACE FUNCTION cardbox.write_session_entries(
    tenant text, session text, ids text[], kinds integer[], raws json[],
    befores bytea[], afters bytea[], targets text[], labels json[], seqs bigint[], branches bigint[],
    depths integer[], parents bigint[], missings text[], outcomes integer[], made timestamptz)
RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
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
          CROSS JOIN LATERAL (SELECT prefix || lpad(to_hex(seqs[i]), 12, '0') AS id) AS k
          CROSS JOIN LATERAL (
                SELECT FROM cardbox.cards x
                 WHERE x.tenant_id = tenant AND x.card_id BETWEEN k.id AND k.id
                 ORDER BY x.card_id LIMIT 1 FOR KEY SHARE) AS c
          WHERE outcomes[i] IN (1, 4);
        GET DIAGNOSTICS done = ROW_COUNT;
        EXIT WHEN done = wanted;
    END LOOP;
    IF were_there THEN
        -- Some were there, as after an import of the project's cards alone: these lines, or others, or
        -- ones that are going to vanish?
        SELECT c.card_id INTO odd
          FROM unnest(seqs, raws, outcomes) AS u(seq, raw, outcome)
         CROSS JOIN LATERAL (SELECT prefix || lpad(to_hex(u.seq), 12, '0') AS id) AS k
         CROSS JOIN LATERAL (
                SELECT * FROM cardbox.cards x
                 WHERE x.tenant_id = tenant AND x.card_id BETWEEN k.id AND k.id
                 ORDER BY x.card_id LIMIT 1) AS c
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

CREATE OR REPLACE FUNCTION cardbox.session_entry_rest(
    tenant text, session text, id text, parent bigint, card text, wants_line boolean)
RETURNS TABLE (parent_id text, label json, raw json)
LANGUAGE sql STABLE AS $$
    SELECT (SELECT p.entry_id FROM cardbox.session_entries p
             WHERE p.tenant_id = tenant AND p.session_id = session AND p.seq BETWEEN parent AND parent
             ORDER BY p.seq LIMIT 1),
           (SELECT (array_agg(l.label ORDER BY l.seq DESC))[1] FROM cardbox.session_entries l
             WHERE l.tenant_id = tenant AND l.session_key = session AND l.target = id AND l.kind = 8),
           CASE WHEN wants_line THEN (
               SELECT c.raw FROM cardbox.cards c
                WHERE c.tenant_id = tenant AND c.card_id BETWEEN card AND card
                ORDER BY c.card_id LIMIT 1) END
$$;
