-- kept_entry: the id of the first entry that a compaction keeps; NULL: none. An import writes it
-- into the target of the compaction's row. Without a target an index in the line is a position in
-- the session.
CREATE OR REPLACE FUNCTION cardbox.kept_entry(tenant text, session text, at_seq bigint, target text, raw json)
RETURNS text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    said json := cardbox.readable_line(raw);
BEGIN
    IF target IS NOT NULL THEN
        RETURN nullif(target, '');
    END IF;
    said := coalesce(said -> 'firstKeptEntryId', said -> 'firstKeptEntryIndex');
    IF json_typeof(said) = 'number' THEN
        RETURN (SELECT e.entry_id FROM cardbox.session_entries e
                 WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = said::text::bigint
                   AND e.seq < at_seq);
    END IF;
    RETURN CASE WHEN json_typeof(said) = 'string' THEN said #>> '{}' END;
EXCEPTION WHEN data_exception THEN
    RETURN NULL; -- a number that is no place
END
$$;
REVOKE ALL ON FUNCTION cardbox.kept_entry FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.kept_entry TO cardbox_service, cardbox_worker;
