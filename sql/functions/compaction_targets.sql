-- compaction_targets: resolves line numbers to entry ids. A compaction in a file may name the first entry that it keeps
-- by a line number. Returns `targets`, with the ids of such entries filled in if they are known.
--   start        Line number in the file of the first element of `ids`.
--   indexes      Line number in the file of the first kept entry; negative: unknown; NULL: the line names no number.
--   diverged_at  First line of the file that differs from the session; NULL: none. Earlier lines have the same number
--                in the file and in the session.
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
