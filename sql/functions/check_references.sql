-- check_references: returns the outcomes of new entries again, after changing some. The outcome is no_parent if
-- the parent is missing. It is no_target if a labelled entry is not stored, and is not an earlier element.
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
        ELSIF types[i] = 'label' AND targets[i] <> ALL (ids[1 : i - 1])
              AND NOT EXISTS (SELECT FROM cardbox.find_entry(tenant, session, targets[i])) THEN
            outcomes[i] := 'no_target';
        END IF;
    END LOOP;
    RETURN outcomes;
END
$$;
