-- compare_lines: compares a batch of lines of a file with the lines of a session. If the session's last line lacks only
-- its end (the line feed, perhaps with bytes after the JSON), the function adds the end from the file.
--   s            The session's row.
--   start        Line number of the batch's first line.
--   diverged_at  Number of the first line that differs from the session's line of this number; NULL: none differs.
--   equal        Number of lines at the start of the batch that equal lines of the session.
--   completes    Index from 1 of the line that begins with the session's truncated last line and has more bytes; NULL:
--                none.
--   prefix       The line feed that is stored at the start of the truncated last line; NULL: there is none.
--   open_end     Whether the session's last line has no line feed at its end.
--   has_changed  Whether the function has added a missing end to the session's last line.
CREATE OR REPLACE FUNCTION cardbox.compare_lines(
    s cardbox.sessions, start bigint, ids text[], contents json[], befores bytea[], afters bytea[],
    INOUT diverged_at bigint, OUT equal integer, OUT completes integer, OUT prefix bytea,
    OUT open_end boolean, OUT has_changed boolean)
LANGUAGE plpgsql
AS $$
DECLARE
    n       integer := cardinality(contents);
    last    integer := least(s.lines - start, 2147483647); -- index from 1 in the batch that the session's last line has
    differs bigint;
    old     record;
    given   bytea;
    broken  bytea; -- the session's truncated last line, without a line feed at its start
BEGIN
    equal := 0;
    open_end := s.open_end;
    has_changed := false;
    diverged_at := coalesce(diverged_at, CASE WHEN start > s.lines THEN start END);
    IF diverged_at IS NOT NULL THEN
        RETURN;
    END IF;
    SELECT min(x.line) INTO differs FROM cardbox.session_lines x
     WHERE x.tenant_id = s.tenant_id AND x.session_id = s.session_id
       AND x.line >= start AND x.line < start + n
       AND NOT ((x.entry_id IS NULL OR coalesce(x.entry_id = ids[x.line - start + 1], false))
                AND CASE WHEN x.content::text = contents[x.line - start + 1]::text
                          AND x.before IS NOT DISTINCT FROM befores[x.line - start + 1]
                          AND x.after IS NOT DISTINCT FROM afters[x.line - start + 1] THEN true
                    ELSE cardbox.line_body(coalesce(x.bytes, cardbox.line_bytes(x.before, x.content, x.after)))
                         = cardbox.line_body(cardbox.line_bytes(
                               befores[x.line - start + 1], contents[x.line - start + 1],
                               afters[x.line - start + 1])) END);
    equal := least(n, last, differs - start);
    IF s.open_end AND last BETWEEN 1 AND n AND equal >= last - 1 THEN
        SELECT x.entry_id, x.content, x.after, x.bytes INTO old FROM cardbox.session_lines x
         WHERE x.tenant_id = s.tenant_id AND x.session_id = s.session_id AND x.line = s.lines - 1;
        given := cardbox.line_bytes(befores[last], contents[last], afters[last]);
        broken := cardbox.line_body(old.bytes);
        IF equal = last OR (old.entry_id = ids[last] AND old.content::text = contents[last]::text) THEN
            equal := last;
            open_end := cardbox.is_open_end(given);
            has_changed := NOT open_end OR (old.entry_id IS NOT NULL AND old.after IS DISTINCT FROM afters[last]);
            UPDATE cardbox.session_lines x
               SET after = CASE WHEN old.entry_id IS NOT NULL THEN afters[last] END,
                   bytes = old.bytes || '\x0a', size = x.size + (old.entry_id IS NULL)::integer
             WHERE has_changed AND x.tenant_id = s.tenant_id AND x.session_id = s.session_id
               AND x.line = s.lines - 1;
        ELSIF octet_length(given) > octet_length(broken) AND substr(given, 1, octet_length(broken)) = broken THEN
            equal := last - 1;
            completes := last;
            prefix := CASE WHEN substr(old.bytes, 1, 1) = '\x0a' THEN '\x0a'::bytea END;
        END IF;
    END IF;
    IF completes IS NULL AND equal < least(n, last) THEN
        diverged_at := start + equal;
    END IF;
END
$$;
