-- append_with_settings: appends messages to a session that exists, and before them an entry with their settings, if these
-- have changed. Locks the session's row. Part of add_messages(), whose parameters it has. The digest of an
-- idempotency key covers what is given, and not whether the settings have changed, so that a request can be repeated.
CREATE OR REPLACE FUNCTION cardbox.append_with_settings(
    tenant text, session text, given_dialect text, expected bigint, key text, ids text[], duplicate_of integer[],
    parents text[], refs integer[], types text[], roles text[], sets text[], targets text[], labels json[],
    contents json[], times bigint[], settings_id text, format text, system json, tools json, parameters json,
    OUT outcome text, OUT version bigint, OUT outcomes text[], OUT lines bigint[])
LANGUAGE plpgsql
AS $$
DECLARE
    s       cardbox.sessions;
    parent  CONSTANT text := CASE WHEN refs[1] = 0 THEN parents[1] END; -- the given one; NULL: the head
    request CONSTANT json[] := contents || json_build_array(format, system, tools, parameters, parent);
    entry   json;
BEGIN
    SELECT * INTO s FROM cardbox.sessions x
     WHERE x.tenant_id = tenant AND x.session_id = session AND x.state = 'live' FOR NO KEY UPDATE;
    SELECT c.outcome, c.version INTO outcome, version
      FROM cardbox.check_append(s, given_dialect, expected, key, request) AS c;
    IF outcome = 'replayed' THEN
        lines := (cardbox.stored_entries(tenant, session, ids, contents, true)).lines;
        outcomes := array_fill('unchanged'::text, ARRAY[cardinality(ids)]);
    END IF;
    IF outcome IS NOT NULL THEN
        RETURN;
    END IF;
    IF parent IS NOT NULL AND 'tool' = ALL (roles) THEN
        parents[1] := cardbox.results_end(tenant, session, parent);
    END IF;
    IF settings_id IS NOT NULL THEN
        entry := cardbox.changed_settings(cardbox.last_settings(tenant, session,
            CASE WHEN parent IS NULL THEN s.head_line
                 ELSE (SELECT e.line FROM cardbox.find_entry(tenant, session, parents[1]) AS e) END),
            settings_id, format, system, tools, parameters);
    END IF;
    IF entry IS NOT NULL THEN
        contents[1] := cardbox.with_parent(settings_id, contents[1]);
        contents := array_prepend(CASE WHEN refs[1] = -1 THEN entry ELSE cardbox.with_parent(parents[1], entry) END,
                                  contents);
        ids := array_prepend(settings_id, ids);
        parents := parents[1] || array_prepend(settings_id, parents[2 : ]);
        refs := refs[1] || ARRAY(SELECT CASE WHEN u.n = 1 THEN 1 ELSE u.x + (u.x > 0)::integer END
                                   FROM unnest(refs) WITH ORDINALITY AS u(x, n) ORDER BY u.n);
        duplicate_of := 0 || ARRAY(SELECT u.x + (u.x > 0)::integer
                                     FROM unnest(duplicate_of) WITH ORDINALITY AS u(x, n) ORDER BY u.n);
        types := array_prepend('settings', types);
        roles := array_prepend(NULL, roles);
        sets := array_prepend('settings', sets);
        targets := array_prepend(NULL, targets);
        labels := array_prepend(NULL, labels);
        times := array_prepend(NULL, times);
    ELSIF refs[1] = 0 THEN
        contents[1] := cardbox.with_parent(parents[1], contents[1]);
    END IF;
    SELECT * INTO outcome, version, outcomes, lines FROM cardbox.append_entries(
        tenant, session, given_dialect, NULL, NULL, ids, duplicate_of, parents, refs, types, roles, sets, targets,
        labels, contents, times);
    IF key IS NOT NULL AND outcome <> 'refused' THEN
        INSERT INTO cardbox.session_append_keys (tenant_id, session_id, append_key, digest, version)
        VALUES (tenant, session, key, sha256(convert_to(array_to_string(request, E'\n'), 'UTF8')), version);
    END IF;
    IF entry IS NOT NULL THEN -- the caller expects the outcomes of the messages
        IF outcomes[1] <> 'appended' THEN
            outcomes[2] := outcomes[1];
        END IF;
        outcomes := outcomes[2 : ];
        lines := lines[2 : ];
    END IF;
END
$$;
