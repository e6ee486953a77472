-- results_end: returns the id of the last stored result of the answer to which the entry `parent` belongs. New results
-- of this answer follow that result, so that results of parallel calls do not start branches. If the answer has no
-- stored result, returns the id of its last entry: an answer of the Responses API may have several. If `parent` is no
-- entry of an answer, returns `parent`. Entries that no model sees may be between an answer and its results.
CREATE OR REPLACE FUNCTION cardbox.results_end(tenant text, session text, parent text) RETURNS text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    entry cardbox.session_lines;
    child cardbox.session_lines;
    last  text := parent;
BEGIN
    SELECT * INTO entry FROM cardbox.find_entry(tenant, session, parent);
    IF entry.role IS NULL OR entry.role NOT IN ('assistant', 'tool') THEN
        RETURN parent;
    END IF;
    LOOP
        SELECT * INTO child
          FROM cardbox.children_of(tenant, session, entry.line, entry.branch, entry.depth) AS x
         WHERE x.role = 'tool' OR x.role IS NULL
            OR x.role = 'assistant' AND entry.role = 'assistant'
               AND cardbox.json_member(entry.content, 'format')::text = '"responses"'
               AND cardbox.json_member(x.content, 'format')::text = '"responses"'
         ORDER BY x.role IS NULL, x.line DESC LIMIT 1;
        IF NOT FOUND THEN
            RETURN last;
        END IF;
        last := CASE WHEN child.role IS NULL THEN last ELSE child.entry_id END;
        child.role := coalesce(child.role, 'tool'); -- results may follow, but no further items of the answer
        entry := child;
    END LOOP;
END
$$;
