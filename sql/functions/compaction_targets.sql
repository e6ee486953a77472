-- compaction_targets: of compactions of a file that name the first entry that they keep by an index: its
-- id. Others keep their target.
--   indexes      number of that entry's line in the file; negative: not known; NULL: no index
--   diverged_at  from this line on the file's lines have other numbers in the session; NULL: none
CREATE OR REPLACE FUNCTION cardbox.compaction_targets(
    tenant text, session text, start bigint, diverged_at bigint, ids text[], targets text[], indexes bigint[])
RETURNS text[]
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    FOR i IN 1 .. cardinality(indexes) LOOP
        IF indexes[i] >= start THEN
            targets[i] := ids[indexes[i] - start + 1];
        ELSIF indexes[i] >= 0 AND indexes[i] < coalesce(diverged_at, start) THEN
            targets[i] := (SELECT x.entry_id FROM cardbox.find_line(tenant, session, indexes[i]) AS x);
        END IF;
    END LOOP;
    RETURN targets;
END
$$;
