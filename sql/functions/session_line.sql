-- session_line: a whole line of the file as it was.
CREATE OR REPLACE FUNCTION cardbox.session_line(before bytea, raw json, after bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE
AS $$
    SELECT coalesce(before, '') || convert_to(raw::text, 'UTF8') || coalesce(after, '\x0a')
$$;
REVOKE ALL ON FUNCTION cardbox.session_line FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.session_line TO cardbox_service, cardbox_worker;
