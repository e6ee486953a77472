-- write_session_entries: writes the entries that were placed (outcomes 1 and 4), and their cards.
-- A card that exists must be this line's.
-- Elements are taken from the arrays one by one: unnest would copy each line once more. A generic
-- plan: a custom one has copies of all lines in it.
CREATE OR REPLACE FUNCTION cardbox.write_session_entries(
    tenant text, session text, ids text[], kinds integer[], raws json[],
    befores bytea[], afters bytea[], targets text[], labels json[], seqs bigint[], branches bigint[],
    depths integer[], parents bigint[], missings text[], outcomes integer[], made timestamptz)
RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $$
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
        INSERT INTO cardbox.cards (tenant_id, card_id, content, metadata, created_at, sealed)
        SELECT tenant, prefix || lpad(to_hex(seqs[i]), 12, '0'), raws[i],
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
           AND (c.content::text IS DISTINCT FROM u.raw::text OR NOT c.sealed OR c.deleted_at IS NOT NULL
                OR c.expires_at IS NOT NULL)
         LIMIT 1;
        IF FOUND THEN
            RAISE EXCEPTION 'card % is in the way of an entry of session %: give the session another id',
                odd, session USING ERRCODE = 'CB001';
        END IF;
    END IF;
END
$$;
REVOKE ALL ON FUNCTION cardbox.write_session_entries FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.write_session_entries TO cardbox_service, cardbox_worker;
