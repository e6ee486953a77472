-- insert_lines: writes the lines whose outcome is appended (entries) or kept (stored as bytes).
--   completes  number of the line here that replaces the session's last one, which broke off; NULL: none
-- Elements are taken from the arrays one by one: unnest would copy each line once more.
CREATE OR REPLACE FUNCTION cardbox.insert_lines(
    tenant text, session text, completes integer, outcomes text[], lines bigint[], branches bigint[],
    depths integer[], parent_lines bigint[], missing text[], ids text[], types text[], roles text[],
    sets text[], targets text[], labels json[], contents json[], befores bytea[], afters bytea[],
    made_ids boolean[], made_targets boolean[])
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    i integer := completes;
    whole bytea;
BEGIN
    INSERT INTO cardbox.session_lines (tenant_id, session_id, line, parent_line, branch, depth, size,
           id_is_made, target_is_made, entry_id, missing_parent_id, type, role, sets, target, label,
           content, before, after)
    SELECT tenant, session, lines[g.i], parent_lines[g.i], branches[g.i], depths[g.i],
           octet_length(contents[g.i]::text), coalesce(made_ids[g.i], false),
           coalesce(made_targets[g.i], false), ids[g.i], missing[g.i], types[g.i], roles[g.i], sets[g.i],
           targets[g.i], labels[g.i], contents[g.i], nullif(befores[g.i], ''),
           afters[g.i]
      FROM generate_series(1, cardinality(outcomes)) AS g(i)
     WHERE outcomes[g.i] = 'appended' AND g.i IS DISTINCT FROM completes;
    IF 'kept' = ANY (outcomes) THEN
        INSERT INTO cardbox.session_lines (tenant_id, session_id, line, size, bytes)
        SELECT tenant, session, lines[g.i], octet_length(b.bytes), b.bytes
          FROM generate_series(1, cardinality(outcomes)) AS g(i)
         CROSS JOIN LATERAL cardbox.line_bytes(befores[g.i], contents[g.i], afters[g.i]) AS b(bytes)
         WHERE outcomes[g.i] = 'kept' AND g.i IS DISTINCT FROM completes;
    END IF;
    IF outcomes[completes] = 'kept' THEN
        whole := cardbox.line_bytes(befores[i], contents[i], afters[i]);
        UPDATE cardbox.session_lines x SET bytes = whole, size = octet_length(whole)
         WHERE x.tenant_id = tenant AND x.session_id = session AND x.line = lines[i];
    ELSIF outcomes[completes] = 'appended' THEN
        UPDATE cardbox.session_lines x
           SET parent_line = parent_lines[i], branch = branches[i], depth = depths[i],
               size = octet_length(contents[i]::text), id_is_made = coalesce(made_ids[i], false),
               target_is_made = coalesce(made_targets[i], false), entry_id = ids[i],
               missing_parent_id = missing[i], type = types[i], role = roles[i], sets = insert_lines.sets[i],
               target = targets[i], label = labels[i], content = contents[i], bytes = NULL,
               before = befores[i], after = afters[i]
         WHERE x.tenant_id = tenant AND x.session_id = session AND x.line = lines[i];
    END IF;
END
$$;
