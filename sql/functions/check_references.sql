-- check_references: the outcomes of entries that an append places: no_parent or no_target where the
-- parent, or the entry to be labelled, is not in the session or before the entry.
CREATE OR REPLACE FUNCTION cardbox.check_references(
    tenant text, session text, outcomes text[], missing text[], ids text[], types text[], targets text[])
RETURNS text[]
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    FOR i IN 1 .. cardinality(outcomes) LOOP
        CONTINUE WHEN outcomes[i] <> 'appended';
        IF missing[i] IS NOT NULL THEN
            outcomes[i] := 'no_parent';
        ELSIF types[i] = 'label' AND targets[i] <> ALL (ids[1 : i - 1]) AND (
                  SELECT x.line FROM cardbox.session_lines x
                   WHERE x.tenant_id = tenant AND x.session_id = session
                     AND x.entry_id BETWEEN targets[i] AND targets[i]
                   ORDER BY x.entry_id LIMIT 1) IS NULL THEN
            outcomes[i] := 'no_target';
        END IF;
    END LOOP;
    RETURN outcomes;
END
$$;
