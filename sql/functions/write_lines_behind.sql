-- write_lines_behind: imports lines that stand directly behind the session's: entries, the first
-- perhaps the file's header. Returns no rows, and has done nothing, if the session does not fit,
-- has one of the ids, or one of the cards exists. So each row can be inserted as a new one: ON
-- CONFLICT would look for each card first.
-- For the parameters and outcomes see write_session().
CREATE OR REPLACE FUNCTION cardbox.write_lines_behind(
    tenant text, session text, given_dialect integer, seqs bigint[], ids text[], parents text[],
    parent_places integer[], kinds integer[], raws json[], befores bytea[], afters bytea[],
    targets text[], labels json[])
RETURNS TABLE (place integer, outcome integer, seq bigint, version bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    n          integer := cardinality(kinds);
    has_header boolean := kinds[1] < 0;
    first      integer := CASE WHEN kinds[1] < 0 THEN 2 ELSE 1 END;
    prefix     text := cardbox.session_card_prefix(session);
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
    PERFORM FROM cardbox.cards x -- first of all: else it would be found when much was written
      WHERE x.tenant_id = tenant
        AND x.card_id BETWEEN prefix || lpad(to_hex(seqs[1]), 12, '0') AND prefix || lpad(to_hex(seqs[n]), 12, '0')
      ORDER BY x.card_id LIMIT 1;
    IF FOUND THEN
        RETURN;
    END IF;
    SELECT * INTO p
      FROM cardbox.place_entries(tenant, session, seqs, parents, parent_places, kinds);
    made := clock_timestamp();
    INSERT INTO cardbox.session_entries (tenant_id, session_id, seq, entry_id, parent_seq, missing,
           depth, branch, kind, card_id, size, before, after, target, label)
    SELECT tenant, session, seqs[i], ids[i], p.ups[i], p.missings[i], p.depths[i], p.branches[i], kinds[i],
           prefix || lpad(to_hex(seqs[i]), 12, '0'), octet_length(raws[i]::text), befores[i], afters[i],
           targets[i], CASE WHEN targets[i] IS NOT NULL THEN labels[i] END
      FROM generate_series(first, n) AS g(i);
    INSERT INTO cardbox.cards (tenant_id, card_id, content, metadata, created_at, sealed)
    SELECT tenant, prefix || lpad(to_hex(seqs[i]), 12, '0'), raws[i],
           jsonb_object(
               '{type,role,session_id,entry_id}',
               ARRAY[(ARRAY['session.entry', 'session.message', 'session.thinking_level_change',
                            'session.model_change', 'session.compaction', 'session.branch_summary',
                            'session.custom', 'session.custom_message', 'session.label',
                            'session.session_info', 'session.user', 'session.assistant',
                            'session.tool', 'session.tool_result', 'session.system',
                            'session.metadata'])[kinds[i] % 256 + 1],
                     (ARRAY['user', 'assistant', 'tool', 'user', 'user', 'system'])[kinds[i] / 256],
                     session, ids[i]]),
           made, true
      FROM generate_series(first, n) AS g(i);
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
REVOKE ALL ON FUNCTION cardbox.write_lines_behind FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.write_lines_behind TO cardbox_service, cardbox_worker;
