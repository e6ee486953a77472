-- import_outcomes: returns the outcomes and issues of lines: see import_lines().
--   equal     Number of lines at the start of the batch that equal lines of the session.
--   diverged  Whether the file differs from the session after the equal lines.
--   lines, missing, same  Columns of stored_entries().
CREATE OR REPLACE FUNCTION cardbox.import_outcomes(
    s cardbox.sessions, start bigint, equal integer, diverged boolean, restores boolean, ids text[],
    duplicate_of integer[], types text[], contents json[], lines bigint[], missing text[], same boolean[],
    OUT outcomes text[], OUT issues text[])
LANGUAGE plpgsql
AS $$
DECLARE
    n       integer := cardinality(contents);
    is_same boolean;
BEGIN
    outcomes := array_fill('unchanged'::text, ARRAY[n]);
    issues := array_fill(NULL::text, ARRAY[n]);
    FOR i IN 1 .. n LOOP
        IF i <= equal AND lines[i] = start + i - 1 THEN
            issues[i] := CASE WHEN missing[i] IS NOT NULL THEN 'dangling' END;
        ELSIF i <= equal THEN
            issues[i] := CASE WHEN ids[i] IS NULL THEN NULL WHEN same[i] THEN 'duplicate' ELSE 'conflict' END;
        ELSIF diverged AND restores THEN
            outcomes[i] := 'differs';
        ELSIF ids[i] IS NULL AND NOT diverged THEN
            outcomes[i] := 'kept';
        ELSIF ids[i] IS NULL AND (types[i] IS NULL OR contents[i]::text IS DISTINCT FROM s.header::text) THEN
            outcomes[i] := 'not_kept';
            issues[i] := 'not_kept';
        ELSIF ids[i] IS NOT NULL AND lines[i] IS NULL AND duplicate_of[i] = 0 THEN
            outcomes[i] := 'appended';
        ELSIF ids[i] IS NOT NULL THEN
            is_same := coalesce(same[i], contents[i]::text = contents[duplicate_of[i]]::text);
            issues[i] := CASE WHEN NOT is_same THEN 'conflict' WHEN NOT diverged THEN 'duplicate'
                              WHEN missing[i] IS NOT NULL THEN 'dangling' END;
            outcomes[i] := CASE WHEN NOT diverged THEN 'kept' WHEN is_same THEN 'unchanged' ELSE 'not_kept' END;
        END IF;
    END LOOP;
END
$$;
