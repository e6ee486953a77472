-- insert_lines: inserts lines into a session: those with the outcome appended as entries, those with kept as bytes.
--   completes  Index of the line that replaces the session's truncated last line; NULL: none.
--
-- The arrays are read element by element, because unnest() would copy each line once more.
CREATE OR REPLACE FUNCTION cardbox.insert_lines(
    tenant text, session text, completes integer, outcomes text[], lines bigint[], branches bigint[],
    depths integer[], parent_lines bigint[], missing text[], ids text[], types text[], roles text[],
    sets text[], targets text[], labels json[], contents json[], befores bytea[], afters bytea[],
    made_ids boolean[], made_targets boolean[])
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF outcomes[completes] IN ('appended', 'kept') THEN
        DELETE FROM cardbox.session_lines x
         WHERE x.tenant_id = tenant AND x.session_id = session AND x.line = lines[completes];
    END IF;
    INSERT INTO cardbox.session_lines (tenant_id, session_id, line, parent_line, branch, depth, size,
           id_is_made, target_is_made, entry_id, missing_parent_id, type, role, sets, target, label,
           content, before, after)
    SELECT tenant, session, lines[g.i], parent_lines[g.i], branches[g.i], depths[g.i],
           octet_length(contents[g.i]::text), coalesce(made_ids[g.i], false),
           coalesce(made_targets[g.i], false), ids[g.i], missing[g.i], types[g.i], roles[g.i], sets[g.i],
           targets[g.i], labels[g.i], contents[g.i], nullif(befores[g.i], ''),
           afters[g.i]
      FROM generate_series(1, cardinality(outcomes)) AS g(i)
     WHERE outcomes[g.i] = 'appended';
    IF 'kept' = ANY (outcomes) THEN
        INSERT INTO cardbox.session_lines (tenant_id, session_id, line, size, bytes)
        SELECT tenant, session, lines[g.i], octet_length(b.bytes), b.bytes
          FROM generate_series(1, cardinality(outcomes)) AS g(i)
         CROSS JOIN LATERAL cardbox.line_bytes(befores[g.i], contents[g.i], afters[g.i]) AS b(bytes)
         WHERE outcomes[g.i] = 'kept';
    END IF;
END
$$;
